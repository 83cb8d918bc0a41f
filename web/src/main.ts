// Opens the map, or the recording that is in the page; tries again while the server is not there.

import { answerFrom, api, hideToken, Refusal } from "./api";
import { Dashboard } from "./dashboard";
import { byId } from "./dom";
import { openRecording } from "./recording";
import { Themes } from "./theme";

const WAIT = 2000;

declare global {
  interface Window {
    /** Handle for scripts: where a point is on the page, and its state. */
    lion?: Dashboard;
  }
}

byId("unopened").remove();
byId("about").textContent = "opening the map…";
const themes = new Themes(byId<HTMLButtonElement>("theme"));

async function open(): Promise<void> {
  const failure = byId("failure");
  try {
    const [info, columns, live] = await Promise.all([api.map(), api.columns(), api.live()]);
    // The map was updated between the answers.
    if (live.version !== undefined && live.version !== info.version) return void open();
    failure.hidden = true;
    window.lion = new Dashboard({ info, columns }, live, themes);
    // The frame after next has the first one on the screen.
    requestAnimationFrame(() => requestAnimationFrame(() => performance.mark("lion-painted")));
  } catch (error) {
    failure.hidden = false;
    byId("about").textContent = "not open";
    if (error instanceof Refusal && error.status === 401) {
      failure.textContent = "This map needs a token. Open the address with ?token=… at its end once.";
      return;
    }
    const away = error instanceof TypeError && /fetch|network/i.test(error.message);
    failure.textContent = away ? "The server does not answer. Trying again…" : error instanceof Error ? `The map cannot be opened: ${error.message}.` : String(error);
    if (away || error instanceof Refusal) setTimeout(() => void open(), WAIT);
  }
}

/** Opens the recording that the page holds, or else what the server has. */
async function start(): Promise<void> {
  const recording = document.getElementById("recording");
  if (!recording) {
    hideToken();
    return open();
  }
  try {
    answerFrom(await openRecording(recording));
  } catch (error) {
    const failure = byId("failure");
    failure.hidden = false;
    failure.textContent = `The recording cannot be opened: ${error instanceof Error ? error.message : String(error)}.`;
    byId("about").textContent = "not open";
    return;
  }
  return open();
}

void start();

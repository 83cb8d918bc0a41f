// Opens the map; tries again while the server is not there.

import { api, hideToken, Refusal } from "./api";
import { Dashboard } from "./dashboard";
import { byId } from "./dom";
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

hideToken();
void open();

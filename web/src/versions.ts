// The version of the map that is shown.

import type { Columns } from "./columns";
import type { MapInfo } from "./types";

/** What a version of the map is: what is said of it, and its rows. Everybody who draws or tells of rows holds the one that is shown, which is replaced in place. */
export interface Version { info: MapInfo; columns: Columns }

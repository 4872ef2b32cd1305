// Who computes: the server of `airtcp lab`, or the core as a module in this browser. Both have the
// same methods; `offers` tells which of them are there.

import { Browser } from "./browser.js";
import { getJson, Server } from "./server.js";

export let core = null;

// The list of links names the module where there is no server.
export async function connect() {
  const overview = await getJson("api/links");
  core = overview.module ? await Browser.begin(overview) : new Server();
  return core;
}

// The page: what is chosen goes to the core, what comes back is drawn.

import { ask, clearAnswer, listAims, listAskers } from "./answer.js";
import { buildCharts, drawCharts, fitCharts, markTimeouts } from "./charts.js";
import { clearCloud, runCloud } from "./cloud.js";
import { connect as connectCore, core } from "./core.js";
import { by, element, withCode } from "./elements.js";
import { acceptFiles, listLinks, showReports } from "./links.js";
import { showCommand, showOffers } from "./offers.js";
import { connect, offer, setCatalogue, showSide } from "./remedies.js";
import { playSides } from "./runs.js";
import { connectShare } from "./share.js";
import { buildSliders, fitChoices, showSettings } from "./sliders.js";
import { DEFAULT, fromFragment, toFragment } from "./state.js";
import { showSummary } from "./summary.js";
import { closeExplanation, listTimeouts, showExplanation } from "./timeouts.js";

const FIRST_LINK = "ready/lossy-pipe";
const FIRST_SETTINGS = { "link.loss.rate": "0.01", duration: "60 s" };
const UNDER_LOAD = "flows.under_load";
const COMPANIONS = '["ping", "exchange", "call"]';
const FIRST_AIM = "bulk";
const CLOUD_AFTER_MS = 600;
const CLOUD_BELOW_MS = 800;
const ADDRESS_AFTER_MS = 250;

let state = structuredClone(DEFAULT);
let link = null;
let last = null;
let playing = null;
let clouding = null;
let explaining = null;
let asking = null;
let fitting = null;
let cloudTimer = 0;
let addressTimer = 0;
let ownFragment = "";

function fail(error) {
  if (error?.name === "AbortError") return;
  by("error").textContent = error.message;
  by("error").hidden = false;
  by("status").textContent = "";
}

function clearError() {
  by("error").hidden = true;
}

const source = () => ({ source: state.link, settings: state.settings });

function request() {
  return { ...source(), sides: [state.a, state.b], seed: state.seed, flow: state.flow };
}

// Shows a link: its sliders, and which remedies fit.
async function openLink() {
  closeExplanation();
  link = await core.link({ source: state.link, settings: {} });
  by("link").value = state.link;
  by("link-description").replaceChildren(
    ...withCode([link.description, ...link.found].join(" ")));
  offer(link.amiss);
  forgetAnswer();
  by("keys").replaceChildren(...Object.keys(link.keys).map((key) =>
    element("option", { value: key })));
  buildSliders(link, state.settings, setKey);
  if (Object.keys(state.settings).length) void refit();
  keepUp();
}

// The address follows when nothing has moved for a moment: browsers refuse too many changes.
async function keepAddress() {
  ownFragment = await toFragment(state);
  history.replaceState(null, "", ownFragment);
}

// What shows the state next to the sliders, and the address.
function keepUp() {
  by("seed").value = String(state.seed);
  by("flow").value = String(state.flow);
  by("under-load").checked = UNDER_LOAD in state.settings;
  by("flow-label").hidden = link.flows < 2 && !("flows.count" in state.settings);
  by("changed").replaceChildren(...Object.entries(state.settings).map(([key, value]) =>
    element("li", {}, element("code", {}, `${key} = ${value}`), element("button", {
      type: "button", "aria-label": `take ${key} back`,
      onclick: () => { setKey(key, null); showSettings(state.settings); },
    }, "×"))));
  showCommand(state, link.name);
  by("reset").hidden = Object.keys(state.settings).length === 0;
  clearTimeout(addressTimer);
  addressTimer = setTimeout(keepAddress, ADDRESS_AFTER_MS);
}

// An answer is of the link as it was.
function forgetAnswer() {
  asking?.abort();
  clearAnswer(link.refusal);
}

function setKey(key, text) {
  if (text === null) delete state.settings[key];
  else state.settings[key] = text;
  forgetAnswer();
  keepUp();
  void refit();
  void play();
}

// Where keys have few values, which of them fit depends on the others: the core is asked. With a
// setting that is wrong it says so when the link is played.
async function refit() {
  if (!link.picks.length) return;
  fitting?.abort();
  const own = fitting = new AbortController();
  try {
    const now = await core.link(source(), own.signal);
    if (!own.signal.aborted) fitChoices(now);
  } catch { /* What was offered stays. */ }
}

// Plays what is chosen; a play that is under way is given up.
async function play() {
  const begun = performance.now();
  playing?.abort();
  clouding?.abort();
  explaining?.abort();
  clearTimeout(cloudTimer);
  const own = playing = new AbortController();
  closeExplanation();
  let frame = 0;
  const show = (sides, duration_s) => {
    if (own.signal.aborted) return;
    drawCharts(sides, duration_s);
    markTimeouts(sides.map((side) => side.timeouts), null);
    const at_s = Math.min(...sides.map((side) => side.time_s));
    by("status").textContent = `${at_s.toFixed(0)} of ${duration_s.toFixed(0)} s`;
  };
  try {
    const asked = request();
    const done = await playSides(asked, own.signal, (sides, duration_s) => {
      cancelAnimationFrame(frame);
      frame = requestAnimationFrame(() => show(sides, duration_s));
    });
    cancelAnimationFrame(frame);
    if (own.signal.aborted) return;
    clearError();
    show(done.sides, done.duration_s);
    last = { ...done, request: asked };
    showSummary(done.sides, asked.sides, state.settings["tcp.profile"] ?? link.profile);
    listTimeouts(done.sides, core.offers.explain ? explain : null);
    clearCloud();
    requestAnimationFrame(() => requestAnimationFrame(() => {
      // After this frame the picture is on the screen.
      const took = performance.measure("airtcp-play", { start: begun }).duration;
      by("status").textContent = done.stopped
        ?? `${done.duration_s.toPrecision(3)} s of both sides in ${took.toFixed(0)} ms`;
      if (took < CLOUD_BELOW_MS) cloudTimer = setTimeout(cloud, CLOUD_AFTER_MS);
    }));
  } catch (error) {
    if (!own.signal.aborted) fail(error);
  }
}

async function cloud() {
  clouding?.abort();
  const own = clouding = new AbortController();
  const { seed: _, ...asked } = request();
  try {
    await runCloud({ ...asked, seeds: Number(by("seeds").value) }, own.signal);
  } catch (error) {
    if (!own.signal.aborted) fail(error);
  }
}

async function findAnswer() {
  if (by("ask").disabled || !core.offers.answer) return;
  asking?.abort();
  const own = asking = new AbortController();
  try {
    await ask({ ...source(), can: by("can").value, aim: by("aim").value }, own.signal, (remedy) => {
      showSide("b", remedy, (text) => setSide("b", text));
      setSide("b", remedy);
    });
    clearError();
  } catch (error) {
    if (own.signal.aborted) return;
    clearAnswer(link.refusal);
    fail(error);
  }
}

async function explain(side, time_s) {
  explaining?.abort();
  const own = explaining = new AbortController();
  const { request: asked } = last;
  try {
    const explained = await core.explain({
      source: asked.source, settings: asked.settings, seed: asked.seed, flow: asked.flow,
      remedy: asked.sides[side], time_s,
    }, own.signal);
    clearError();
    showExplanation(side, explained);
    markTimeouts(last.sides.map((one) => one.timeouts), explained.time_s);
  } catch (error) {
    if (!own.signal.aborted) fail(error);
  }
}

// The timeout nearest to a time that was clicked.
function explainNear(time_s) {
  const all = (last?.sides ?? []).flatMap((side, index) =>
    side.timeouts.map((one) => [Math.abs(one.time_s - time_s), index, one.time_s]));
  all.sort(([one], [other]) => one - other);
  if (core.offers.explain && all.length && all[0][0] < last.duration_s / 40) {
    void explain(all[0][1], all[0][2]);
  }
}

function explainNext() {
  const buttons = [...document.querySelectorAll("#timeouts button")];
  const at = buttons.findIndex((button) => button.getAttribute("aria-pressed") === "true");
  buttons[(at + 1) % buttons.length]?.click();
}

function setSeed(seed) {
  state.seed = Number.isSafeInteger(seed) && seed >= 0 ? seed : 1;
  keepUp();
  void play();
}

function setSide(side, text) {
  if (state[side] === text) return;
  state[side] = text;
  keepUp();
  void play();
}

function exchange() {
  [state.a, state.b] = [state.b, state.a];
  showSide("a", state.a, (text) => setSide("a", text));
  showSide("b", state.b, (text) => setSide("b", text));
  keepUp();
  void play();
}

function connectPanel() {
  by("panel").addEventListener("submit", (event) => event.preventDefault());
  by("link").addEventListener("change", () => choose(by("link").value, null));
  by("seed").addEventListener("change", () => setSeed(Number(by("seed").value)));
  by("next-seed").addEventListener("click", () => setSeed(state.seed + 1));
  by("flow").addEventListener("change", () => {
    state.flow = Math.max(0, Math.floor(Number(by("flow").value)) || 0);
    keepUp();
    void play();
  });
  for (const side of ["a", "b"]) connect(side, (text) => setSide(side, text));
  by("any-key").addEventListener("input", () => {
    by("any-meaning").replaceChildren(...withCode(link?.keys[by("any-key").value.trim()] ?? ""));
  });
  by("any-set").addEventListener("click", () => {
    const key = by("any-key").value.trim();
    if (!key) return;
    setKey(key, by("any-value").value.trim());
    showSettings(state.settings);
  });
  by("reset").addEventListener("click", () => choose(state.link, state.toml));
  by("run-cloud").addEventListener("click", cloud);
  by("seeds").addEventListener("change", cloud);
  by("ask").addEventListener("click", findAnswer);
  by("can").addEventListener("change", () => {
    state.can = by("can").value;
    keepUp();
    forgetAnswer();
  });
  by("aim").addEventListener("change", () => {
    state.aim = by("aim").value;
    keepUp();
    forgetAnswer();
  });
  by("under-load").addEventListener("change", () => {
    setKey(UNDER_LOAD, by("under-load").checked ? COMPANIONS : null);
  });
  by("reports-button").addEventListener("click", () => showReports().catch(fail));
  by("help-button").addEventListener("click", () => by("help").showModal());
}

const KEYS = {
  n: () => setSeed(state.seed + 1),
  t: explainNext,
  x: exchange,
  c: cloud,
  h: findAnswer,
  s: () => by("share-button").click(),
  l: () => by("link").focus(),
  "?": () => by("help").showModal(),
};

function connectKeys() {
  document.addEventListener("keydown", (event) => {
    const { target } = event;
    const isText = target instanceof HTMLInputElement && target.type !== "range"
      && target.type !== "checkbox";
    if (isText || target instanceof HTMLSelectElement || document.querySelector("dialog[open]")
      || event.ctrlKey || event.metaKey || event.altKey) return;
    if (Object.hasOwn(KEYS, event.key)) {
      event.preventDefault();
      KEYS[event.key]();
    }
  });
}

async function choose(id, toml) {
  state = { ...state, link: id, toml, settings: {}, flow: 0 };
  try {
    await openLink();
    await play();
  } catch (error) {
    fail(error);
  }
}

function listQuestions(overview) {
  listAskers(overview.askers, state.can || overview.can);
  const isAim = overview.aims.some(({ name }) => name === state.aim);
  listAims(overview.aims, isAim ? state.aim : FIRST_AIM);
}

// Opens what the address says; without anything in it, a link to begin with.
async function openAddress() {
  const overview = await core.overview();
  setCatalogue(overview.remedies);
  state = await fromFragment(location.hash);
  if (state.toml) {
    const { id } = await core.drop([new File([state.toml.text], state.toml.name)]);
    state.link = id;
    overview.links = (await core.overview()).links;
  }
  const known = overview.links.map((one) => one.id);
  if (!state.link && known.length) {
    state.link = known.includes(FIRST_LINK) ? FIRST_LINK : known[0];
    if (state.link === FIRST_LINK) state.settings = { ...FIRST_SETTINGS };
  }
  if (core.offers.answer) listQuestions(overview);
  listLinks(overview.links, state.link);
  if (!state.link) {
    by("link-description").textContent = "No scenarios in this folder: open a file.";
    return;
  }
  for (const side of ["a", "b"]) showSide(side, state[side], (text) => setSide(side, text));
  await openLink();
  await play();
}

async function start() {
  showOffers(await connectCore());
  by("loading").hidden = true;
  buildCharts(explainNear);
  connectPanel();
  connectKeys();
  connectShare(() => state, fail);
  acceptFiles(async (id, toml) => {
    clearError();
    listLinks((await core.overview()).links, id);
    await choose(id, toml);
  }, fail);
  new ResizeObserver(fitCharts).observe(by("charts"));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    buildCharts(explainNear);
    if (last) drawCharts(last.sides, last.duration_s);
  });
  addEventListener("hashchange", () => {
    if (location.hash !== ownFragment) openAddress().catch(fail);
  });
  await openAddress();
}

start().catch(fail);

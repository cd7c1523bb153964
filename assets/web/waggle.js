// SPDX-License-Identifier: MIT
// The page of one node: asks for its snapshot each second, follows its events, sends commands. What comes from the node is only
// ever put into text nodes; strangers choose parts of it.
import { knows, language, word } from "/words.js";

const kPeriod = 1000; // ms between two snapshots
const kLogPeriod = 2000;
const kLogLines = 500;
const kCurvePoints = 4000;
const kTokenKey = "waggle-token";

const byId = (id) => document.getElementById(id);

// ---- the token -------------------------------------------------------------------------------------------------------------
// It comes behind the "#", which browsers send to nobody, is taken off the address at once, and stays with this tab. It is no
// cookie on purpose: cookies do not know ports, so another program's page on this machine would be sent it.

function take_token() {
  const given = location.hash.slice(1);
  if (given) {
    sessionStorage.setItem(kTokenKey, given);
    history.replaceState(null, "", location.pathname);
  }
}

const token = () => sessionStorage.getItem(kTokenKey) ?? "";

class Locked extends Error {}

async function ask(path, options = {}) {
  const response = await fetch(path, {
    ...options,
    cache: "no-store", credentials: "omit", redirect: "error", referrerPolicy: "no-referrer",
    headers: { ...options.headers, Authorization: `Bearer ${token()}` },
  });
  if (response.status === 401) throw new Locked();
  return response;
}

// ---- words and figures -----------------------------------------------------------------------------------------------------

const whole = new Intl.NumberFormat(language, { maximumFractionDigits: 0 });
const short = new Intl.NumberFormat(language, { notation: "compact", maximumFractionDigits: 1 });
const tenth = new Intl.NumberFormat(language, { maximumFractionDigits: 1 });
const share = (value) => new Intl.NumberFormat(language, { style: "percent", maximumFractionDigits: 0 }).format(value);
const count = (value) => (value >= 1e6 ? short : whole).format(value);

function sized(value, step, units) {
  let at = 0;
  while (value >= step && at < units.length - 1) { value /= step; ++at; }
  return `${at === 0 || value >= 100 ? whole.format(value) : tenth.format(value)} ${units[at]}`;
}

const bytes = (value) => sized(value, 1000, ["B", "kB", "MB", "GB", "TB"]);
// As memory is sold, and as the settings count memory and disk.
const binary = (value) => sized(value, 1024, ["B", "KiB", "MiB", "GiB", "TiB"]);

function duration(seconds) {
  const unit = (value, name) => new Intl.NumberFormat(language, { style: "unit", unit: name, unitDisplay: "short", maximumFractionDigits: 0 }).format(value);
  if (seconds < 90) return unit(seconds, "second");
  if (seconds < 90 * 60) return unit(seconds / 60, "minute");
  if (seconds < 48 * 3600) return unit(seconds / 3600, "hour");
  return unit(seconds / 86400, "day");
}

const brief = (id) => (id.length > 14 ? `${id.slice(0, 4)}…${id.slice(-8)}` : id);

/** An element: tag, classes, children (texts or elements). */
function make(tag, classes = "", ...children) {
  const element = document.createElement(tag);
  if (classes) element.className = classes;
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

// ---- tasks -----------------------------------------------------------------------------------------------------------------

const kColours = { training: "good", finishing: "swarm", fetching: "swarm", finding: "swarm", starting: "swarm", paused: "warn", failed: "bad" };
const cards = new Map(); // by operator and prefix
let trouble = "";

async function send(command, prefix, button) {
  button.disabled = true;
  try {
    const response = await ask("/v1/commands", {
      method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ command, prefix }),
    });
    trouble = response.ok ? "" : word("refused", (await response.text()).trim());
  } catch (failure) {
    if (failure instanceof Locked) lock(word("login_wrong"));
  }
  look();
}

function figure(card, key) {
  const value = make("b");
  card.figures.append(make("div", "figure", value, make("span", "", word(key))));
  return value;
}

function make_card(task) {
  const card = {
    title: make("h2"), state: make("span", "pill"), reason: make("p", "muted"), fill: make("div"), progress: make("span"), left: make("span"),
    main: make("button", "primary"), finish: make("button"), figures: make("div", "figures"), command: "pause",
  };
  card.bar = make("div", "bar", card.fill);
  card.bar.setAttribute("role", "progressbar");
  card.own = figure(card, "own_speed");
  card.swarm = figure(card, "swarm_speed");
  card.peers = figure(card, "swarm_peers");
  card.loss = figure(card, "loss");
  card.accuracy = figure(card, "test_accuracy");
  card.given = figure(card, "given");
  card.main.addEventListener("click", () => send(card.command, task.prefix, card.main));
  card.finish.addEventListener("click", () => send("finish", task.prefix, card.finish));
  card.finish.textContent = word("finish");
  card.element = make("article", "card task",
    make("div", "task_head", card.title, card.state, make("div", "buttons", card.main, card.finish)),
    card.reason, card.bar, make("div", "under", card.progress, card.left), card.figures);
  return card;
}

// What the optimizer does, in this language where the words are known.
function phase_words(phase) {
  const key = `phase_${phase.replaceAll(" ", "_")}`;
  return knows(key) ? word(key) : phase.startsWith("loading state") ? word("phase_loading_state") : phase;
}

function show_task(card, task) {
  const waits = ["finding", "fetching", "waiting", "choice"].includes(task.state);
  const resting = task.state === "paused" && task.paused_by === "guest";
  card.title.textContent = task.title || task.prefix;
  card.state.textContent = word(resting ? "resting" : task.state);
  card.state.className = `pill ${kColours[task.state] ?? ""}`;
  card.element.dataset.state = task.state;
  const by_person = task.paused_by === "you" || task.reason === "paused by you";
  const reason = by_person ? word("paused_by_you") : task.reason;
  card.reason.textContent = reason || (task.state === "training" ? phase_words(task.phase) : "");
  // Also while it fetches or starts, and will not train then.
  const full = task.state === "paused" && task.paused_by === "disk"; // nothing that Start could end
  const paused = (task.state === "paused" && !full) || (by_person && ["fetching", "starting"].includes(task.state));
  const over = task.state === "done" || task.state === "failed";
  card.command = paused ? "resume" : "pause";
  card.main.textContent = word(resting ? "run_anyway" : paused ? "start" : "pause");
  card.main.className = paused ? "primary" : "";
  card.main.disabled = over || ["finding", "choice", "finishing", "waiting"].includes(task.state);
  card.finish.disabled = over || task.state === "finishing" || waits;
  const fetching = task.state === "fetching";
  const [done, all] = fetching ? [task.fetch_done, task.fetch_total] : [task.swarm_samples, task.target_batch_size];
  const part = all > 0 ? Math.min(1, done / all) : 0;
  card.fill.style.width = `${100 * part}%`;
  card.bar.setAttribute("aria-valuenow", String(Math.round(100 * part)));
  card.progress.textContent = all === 0 ? "" : fetching ? word("fetched", bytes(done), bytes(all)) : word("epoch_samples", whole.format(task.epoch), count(done), count(all));
  card.left.textContent = !fetching && !paused && task.eta > 0 && Number.isFinite(task.eta) ? word("time_left", duration(task.eta)) : "";
  card.own.textContent = tenth.format(task.samples_per_second);
  card.swarm.textContent = tenth.format(task.swarm_samples_per_second);
  card.peers.textContent = whole.format(task.swarm_peers);
  card.loss.textContent = task.loss === null ? "–" : task.loss.toFixed(3);
  card.accuracy.textContent = task.test_accuracy === null ? "–" : `${(100 * task.test_accuracy).toFixed(1)} %`;
  card.given.textContent = count(task.samples_given);
}

function show_tasks(snapshot) {
  const seen = new Set();
  for (const task of snapshot.tasks) {
    const key = `${task.operator}/${task.prefix}`;
    seen.add(key);
    if (!cards.has(key)) cards.set(key, make_card(task));
    show_task(cards.get(key), task);
  }
  for (const key of cards.keys()) if (!seen.has(key)) cards.delete(key);
  const elements = [...cards.values()].map((card) => card.element);
  if (elements.length === 0)
    elements.push(make("div", "card", make("h2", "", word("no_task_title")), make("p", "muted", word("no_task_text"))));
  const tasks = byId("tasks");
  // Only when it changed: a button under the pointer must stay the same button.
  if (elements.length !== tasks.children.length || elements.some((element, i) => cards.size === 0 || tasks.children[i] !== element)) tasks.replaceChildren(...elements);
}

// ---- the other cards -------------------------------------------------------------------------------------------------------

function show_contribution(snapshot) {
  const views = [snapshot.contribution.today, snapshot.contribution.week, snapshot.contribution.all];
  const row = (key, value) => {
    const head = make("th", "", word(key));
    head.scope = "row";
    return make("tr", "", head, ...views.map((view) => make("td", "", value(view))));
  };
  byId("given").tBodies[0].replaceChildren(
    row("samples", (v) => count(v.samples)), row("rounds", (v) => count(v.rounds)),
    row("hours", (v) => tenth.format(v.hours)), row("credits", (v) => short.format(v.credits)));
}

function show_round(snapshot) {
  const round = snapshot.tasks.map((task) => task.last_round).find((r) => r);
  if (!round) {
    byId("round").replaceChildren(make("p", "muted", word("no_round")));
    return;
  }
  const others = round.group.filter((id) => id !== snapshot.peer_id).length;
  const averaged = round.outcome === "averaged";
  const title = averaged ? (others === 1 ? word("averaged_one") : word("averaged", others)) : word(round.outcome);
  const members = round.group.map((id) => make("li", id === snapshot.peer_id ? "mono me" : "mono", id === snapshot.peer_id ? word("me") : brief(id)));
  byId("round").replaceChildren(
    make("div", averaged ? "good" : "warn", title),
    make("div", "muted", word("round_took", duration(round.seconds), bytes(round.bytes_sent), bytes(round.bytes_received))),
    ...(round.why ? [make("div", "muted", round.why)] : []),
    make("ul", "group", ...members));
}

function gauge(part, text) {
  const fill = make("i");
  fill.style.width = `${100 * Math.max(0, Math.min(1, part))}%`;
  return make("span", "", make("span", "gauge", fill), text);
}

function show_hardware(snapshot) {
  const machine = snapshot.machine ?? {};
  const guest = snapshot.guest ?? {};
  const facts = [];
  const fact = (key, value) => facts.push(make("dt", "", word(key)), make("dd", "", value));
  const known = (value) => value !== null && value !== undefined;
  if (known(machine.cpu)) fact("cpu", gauge(machine.cpu, share(machine.cpu)));
  if (machine.memory_total > 0) {
    const used = machine.memory_total - machine.memory_available;
    fact("memory", gauge(used / machine.memory_total, word("used_of", binary(used), binary(machine.memory_total))));
  }
  for (const gpu of machine.gpus ?? []) {
    const figures = [known(gpu.busy) ? share(gpu.busy) : null, known(gpu.celsius) ? `${whole.format(gpu.celsius)} °C` : null, known(gpu.watts) ? `${whole.format(gpu.watts)} W` : null];
    fact("gpu", known(gpu.busy) ? gauge(gpu.busy, `${gpu.name} ${figures.filter(known).join(", ")}`) : gpu.name);
  }
  if (machine.disk_available > 0) fact("disk", binary(machine.disk_available));
  if (known(machine.celsius)) fact("heat", `${whole.format(machine.celsius)} °C`);
  if (machine.has_battery && known(machine.battery_percent)) fact("battery", word(machine.on_battery ? "on_battery" : "on_mains", share(machine.battery_percent / 100)));
  if (guest.threads > 0) {
    const what = [word(guest.power), whole.format(guest.threads), share(guest.duty)];
    fact("power", guest.threads === 1 ? word("power_one", what[0], what[2]) : word("power_value", ...what));
  }
  fact("traffic", word("traffic_value", bytes(snapshot.socket_bytes_in), bytes(snapshot.socket_bytes_out)));
  fact("table", word("table_value", whole.format(snapshot.dht_table), whole.format(snapshot.dht_records)));
  byId("hardware").replaceChildren(...facts);
}

function show_peers(snapshot) {
  const rate_of = new Map(snapshot.tasks.flatMap((task) => task.volunteers ?? []).map((peer) => [peer.id, peer.samples_per_second]));
  const rows = [...snapshot.peers].sort((a, b) => b.connected_for - a.connected_for).map((peer) => {
    const name = make("td", "mono", brief(peer.id));
    name.title = `${peer.id}\n${peer.agent}`;
    const way = peer.relayed ? "relayed" : peer.inbound ? "direct_in" : "direct_out";
    const address = make("td", "mono spare", peer.address.split("/p2p/")[0]);
    address.title = peer.address;
    return make("tr", "", name, address, make("td", "spare", word(way)),
      make("td", "number", peer.round_trip_ms === null ? "–" : `${tenth.format(peer.round_trip_ms)} ms`),
      make("td", "number", rate_of.get(peer.id) >= 0.05 ? tenth.format(rate_of.get(peer.id)) : "–"),
      make("td", "number", bytes(peer.bytes_in)), make("td", "number", bytes(peer.bytes_out)), make("td", "number", duration(peer.connected_for)));
  });
  byId("peers").tBodies[0].replaceChildren(...rows);
  byId("peers").hidden = rows.length === 0;
  byId("no_peers").hidden = rows.length > 0;
  byId("peer_count").textContent = rows.length > 0 ? whole.format(rows.length) : "";
}

function show_notices(snapshot) {
  const texts = [...(trouble ? [trouble] : []), ...snapshot.notices];
  byId("notices").replaceChildren(...texts.map((text) => make("li", "", text)));
}

// ---- curves ----------------------------------------------------------------------------------------------------------------

const curves = { loss: [], accuracy: [] };
let drawn = "";

function add_point(curve, x, y) {
  if (!Number.isFinite(x) || !Number.isFinite(y)) return;
  if (curve.length > 0 && x < curve[curve.length - 1][0]) curve.length = 0; // a new run
  if (curve.length > 0 && x === curve[curve.length - 1][0]) curve.pop();
  curve.push([x, y]);
  if (curve.length > kCurvePoints) curve.shift();
}

function take_event(event) {
  if (event.event === "epoch") add_point(curves.loss, event.epoch, event.loss);
  if (event.event === "evaluation" && typeof event.accuracy === "number") add_point(curves.accuracy, event.epoch, event.accuracy);
}

function svg(tag, attributes, text) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
  if (text !== undefined) element.textContent = text;
  return element;
}

function draw_curves() {
  const place = byId("curve");
  const width = place.clientWidth;
  const height = place.clientHeight;
  const last = (curve) => (curve.length > 0 ? curve[curve.length - 1] : []);
  const state = `${width} ${height} ${last(curves.loss)} ${last(curves.accuracy)}`;
  if (state === drawn || width === 0) return;
  drawn = state;
  const all = [...curves.loss, ...curves.accuracy];
  if (all.length === 0) {
    place.replaceChildren(make("p", "muted", word("nothing_yet")));
    return;
  }
  const [left, right, top, bottom] = [44, 44, 10, 24];
  const from = Math.min(...all.map((p) => p[0]));
  const to = Math.max(from + 1, ...all.map((p) => p[0]));
  const highest = Math.max(1e-9, ...curves.loss.map((p) => p[1])) * 1.05;
  const x = (epoch) => left + ((width - left - right) * (epoch - from)) / (to - from);
  const y = (part) => top + (height - top - bottom) * (1 - part);
  const picture = svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": word("learning") });
  for (const part of [0, 0.25, 0.5, 0.75, 1]) {
    picture.append(svg("line", { class: "grid", x1: left, x2: width - right, y1: y(part), y2: y(part) }));
    if (curves.loss.length > 0) picture.append(svg("text", { x: left - 8, y: y(part) + 4, "text-anchor": "end" }, (part * highest).toFixed(highest < 10 ? 2 : 0)));
    if (curves.accuracy.length > 0) picture.append(svg("text", { x: width - right + 8, y: y(part) + 4 }, share(part)));
  }
  picture.append(svg("text", { x: left, y: height - 6 }, whole.format(from)));
  picture.append(svg("text", { x: width - right, y: height - 6, "text-anchor": "end" }, whole.format(to)));
  const line = (curve, kind, scaled) => {
    if (curve.length === 0) return;
    const path = curve.map((p, i) => `${i === 0 ? "M" : "L"}${x(p[0]).toFixed(1)} ${y(scaled(p[1])).toFixed(1)}`).join("");
    picture.append(svg("path", { class: kind, d: path }));
    const end = last(curve);
    picture.append(svg("circle", { class: kind, cx: x(end[0]), cy: y(scaled(end[1])), r: 3.5 }));
  };
  line(curves.loss, "own", (value) => value / highest);
  line(curves.accuracy, "good", (value) => value);
  place.replaceChildren(picture);
}

/** Server-sent events by fetch, since EventSource cannot send the token. Ends when the stream does. */
async function follow_events(after) {
  const response = await ask(`/v1/events?after=${after}`);
  if (!response.ok) return after;
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return after;
    const blocks = (rest + value).split("\n\n");
    rest = blocks.pop();
    for (const block of blocks)
      for (const line of block.split("\n")) {
        if (line.startsWith("id: ")) after = Number(line.slice(4));
        if (line.startsWith("data: ")) take_event(JSON.parse(line.slice(6)));
      }
  }
}

// ---- the log ---------------------------------------------------------------------------------------------------------------

let log_after = 0;

function add_lines(lines) {
  const list = byId("log");
  const at_end = list.scrollTop + list.clientHeight >= list.scrollHeight - 8;
  for (const line of lines) {
    const time = make("time", "mono", new Date(1000 * line.time).toLocaleTimeString(language, { hour12: false }));
    time.dateTime = new Date(1000 * line.time).toISOString();
    list.append(make("li", line.level, time, make("span", "module", line.module), make("span", "text", line.text)));
  }
  while (list.children.length > kLogLines) list.firstElementChild.remove();
  if (at_end) list.scrollTop = list.scrollHeight;
}

async function read_log() {
  const response = await ask(`/v1/log?after=${log_after}&level=${byId("level").value}&most=${kLogLines}`);
  if (!response.ok) return;
  const answer = await response.json();
  if (answer.last < log_after) byId("log").replaceChildren();
  log_after = answer.last;
  add_lines(answer.lines);
}

// ---- the whole -------------------------------------------------------------------------------------------------------------

let process = 0; // the node's; another one begins everything anew
let events_after = 0;

function say_link(good) {
  byId("link").textContent = word(good ? "connected" : "lost");
  byId("link").className = `pill ${good ? "good" : "bad"}`;
}

function lock(why) {
  sessionStorage.removeItem(kTokenKey);
  byId("open").hidden = true;
  byId("locked").hidden = false;
  byId("link").textContent = "";
  byId("link").className = "";
  byId("login_trouble").textContent = why;
  byId("token").focus();
}

function show(snapshot) {
  if (snapshot.pid !== process) {
    process = snapshot.pid;
    curves.loss.length = curves.accuracy.length = 0;
    events_after = log_after = 0;
    byId("log").replaceChildren();
  }
  byId("locked").hidden = true;
  byId("open").hidden = false;
  byId("machine").textContent = brief(snapshot.peer_id);
  byId("machine").title = [snapshot.peer_id, ...snapshot.addresses].join("\n");
  byId("version").textContent = word("up", snapshot.version, duration(snapshot.uptime));
  show_notices(snapshot);
  show_tasks(snapshot);
  show_contribution(snapshot);
  show_round(snapshot);
  show_hardware(snapshot);
  show_peers(snapshot);
  draw_curves();
}

/** One snapshot; whether another try makes sense. */
async function look() {
  if (!token()) {
    lock("");
    return;
  }
  let snapshot = null;
  try {
    const response = await ask("/v1/snapshot");
    if (response.ok) snapshot = await response.json();
  } catch (failure) {
    if (failure instanceof Locked) {
      lock(word("login_wrong"));
      return;
    }
  }
  say_link(snapshot !== null);
  if (snapshot?.schema === 1) show(snapshot);
}

const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

async function repeat(period, work) {
  for (;;) {
    if (token() && !document.hidden)
      await work().catch((failure) => {
        // That nobody answers is said by look(), which asks as well.
        if (!(failure instanceof TypeError && failure.message.includes("fetch"))) console.error(failure);
      });
    await pause(period);
  }
}

document.documentElement.lang = language;
for (const element of document.querySelectorAll("[data-word]")) element.textContent = word(element.dataset.word);
take_token();
addEventListener("hashchange", () => { take_token(); look(); });
addEventListener("resize", draw_curves);
document.addEventListener("visibilitychange", () => { if (!document.hidden) look(); });
byId("level").addEventListener("change", () => { log_after = 0; byId("log").replaceChildren(); read_log().catch(() => {}); });
byId("login").addEventListener("submit", (event) => {
  event.preventDefault();
  // Whoever pastes the whole address means its token.
  sessionStorage.setItem(kTokenKey, byId("token").value.trim().split("#").pop());
  byId("token").value = "";
  look();
});
if (!token()) lock("");
repeat(kPeriod, look);
repeat(kLogPeriod, read_log);
repeat(kPeriod, async () => { if (process !== 0) events_after = await follow_events(events_after); });

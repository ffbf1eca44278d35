// What a page does by itself: times in the reader's zone, parts that follow changes, windows of long lists,
// details of a task, keys. All of it is also there without this script, by links and forms.

const live = document.getElementById("live");
const REST_MS = 500; // between two looks at the same part
const SPARE = 30; // rows above and below what is seen

function say(text) {
  if (live.textContent !== text) live.textContent = text;
}

// Times

const day = new Intl.DateTimeFormat(undefined, { dateStyle: "medium" });
const clock = new Intl.DateTimeFormat(undefined, { timeStyle: "medium" });
const short = { hour: "2-digit", minute: "2-digit", hourCycle: "h23" };
const minutes = new Intl.DateTimeFormat(undefined, short);
const weekday = new Intl.DateTimeFormat(undefined, { weekday: "short", ...short });

function showTimes(root) {
  for (const each of root.querySelectorAll("time[datetime]")) {
    const moment = new Date(each.dateTime);
    if (Number.isNaN(moment.getTime())) continue;
    const isToday = day.format(moment) === day.format(new Date());
    const whole = isToday ? clock.format(moment) : `${day.format(moment)} ${clock.format(moment)}`;
    const inShort = isToday ? minutes : weekday;
    each.textContent = "short" in each.dataset ? inShort.format(moment) : whole;
    each.title = moment.toISOString();
  }
}

// Parts that are asked for again

async function asked(url) {
  const answer = await fetch(url, { headers: { "X-Fragment": "1" }, redirect: "manual" });
  if (answer.type === "opaqueredirect" || answer.status === 401) {
    location.reload();
    return null;
  }
  if (!answer.ok) throw new Error(`HTTP ${answer.status}`);
  return answer;
}

function parsed(html) {
  const template = document.createElement("template");
  template.innerHTML = html;
  showTimes(template.content);
  return template.content;
}

// Puts the parts of an answer in the places of those with their ids; the first one in that of `part`.
async function renewPart(part) {
  const answer = await asked(part.dataset.fragment);
  if (answer === null) return;
  const [first, ...others] = parsed(await answer.text()).children;
  replaceChanged(part, first);
  for (const each of others) replace(document.getElementById(each.id), each);
}

// Sections that are as they were stay: where the reader scrolled to in them, and what he marked.
function replaceChanged(part, fresh) {
  const shape = (root) => [root, ...root.children].map((each) => each.cloneNode(false).outerHTML).join();
  if (shape(part) !== shape(fresh)) return replace(part, fresh);
  for (const old of [...part.children]) {
    const [next] = fresh.children; // one that was taken is not there any more
    if (isUnchanged(old, next)) next.remove();
    else replace(old, next);
  }
}

function isUnchanged(old, fresh) {
  const before = old.cloneNode(true);
  for (const each of before.querySelectorAll("details[open]")) each.open = false;
  return before.isEqualNode(fresh);
}

function replace(part, fresh) {
  const focused = part?.contains(document.activeElement) ? document.activeElement : null;
  if (!part || focused?.matches("input, select, textarea")) return; // the user is typing
  const again = focused && placeOf(focused, part);
  const opened = [...part.querySelectorAll("details")].map((each) => [placeOf(each, part), each.open]);
  part.replaceWith(fresh);
  for (const [place, isOpen] of opened) {
    const details = place(fresh);
    if (details) details.open = isOpen;
  }
  again?.(fresh)?.focus({ preventScroll: true });
}

// What an element is in another edition of its part: that with its id, its address, or its number.
function placeOf(element, part) {
  const href = element.getAttribute("href");
  if (element.id) return (fresh) => fresh.querySelector(`#${CSS.escape(element.id)}`);
  if (href) return (fresh) => fresh.querySelector(`[href="${CSS.escape(href)}"]`);
  const text = element.matches("summary, details") ? element.textContent.trim().slice(0, 20) : "";
  const alike = (root) => [...root.querySelectorAll(element.localName)]
    .filter((each) => each.textContent.trim().startsWith(text));
  const number = alike(part).indexOf(element);
  return (fresh) => alike(fresh)[number];
}

// Long lists: rows of one height, of which those are here that are seen

class Rows {
  constructor(table) {
    this.table = table;
    this.body = table.tBodies[0];
    this.url = table.dataset.rows;
    this.total = Number(table.dataset.total);
    this.start = Number(table.dataset.start);
    this.number = 0;
    const few = this.body.rows.length;
    if (this.total > few) document.querySelector(".pages")?.remove();
    this.height = few ? this.body.getBoundingClientRect().height / few : 40;
    this.above = this.spacer(this.start);
    this.below = this.spacer(this.total - this.start - few);
    this.body.before(this.above);
    this.body.after(this.below);
    this.size();
    addEventListener("scroll", () => this.soon(), { passive: true });
    addEventListener("resize", () => this.soon(), { passive: true });
  }

  spacer() {
    const body = document.createElement("tbody");
    body.setAttribute("aria-hidden", "true");
    const row = body.insertRow();
    const cell = row.insertCell();
    cell.colSpan = this.table.tHead.rows[0].cells.length;
    cell.className = "spacer";
    cell.style.padding = "0";
    cell.style.border = "0";
    return body;
  }

  size() {
    const rows = [...this.body.querySelectorAll(":scope > tr:not(.opened)")];
    const count = rows.length;
    // For screen readers: which of all rows these are; the first one is the head.
    rows.forEach((row, index) => row.setAttribute("aria-rowindex", String(this.start + index + 2)));
    this.above.rows[0].style.height = `${this.start * this.height}px`;
    this.below.rows[0].style.height = `${Math.max(0, this.total - this.start - count) * this.height}px`;
    this.table.dataset.total = this.total;
    this.table.setAttribute("aria-rowcount", String(this.total + 1));
    this.table.tHead.rows[0].setAttribute("aria-rowindex", "1");
  }

  soon() {
    if (this.waits) return;
    this.waits = requestAnimationFrame(() => {
      this.waits = 0;
      const [first, last] = this.seen();
      const count = this.body.rows.length;
      if (first < this.start || last > Math.min(this.total, this.start + count)) this.renew();
    });
  }

  seen() {
    let top = this.above.getBoundingClientRect().top;
    for (const opened of this.body.querySelectorAll("tr.opened")) {
      const { bottom, height } = opened.getBoundingClientRect();
      if (bottom < 0) top += height; // it is no row that is counted
    }
    const first = Math.max(0, Math.floor(-top / this.height));
    const last = Math.min(this.total, Math.ceil((innerHeight - top) / this.height));
    return [first, Math.max(first, last)];
  }

  // Go to one of all rows, wherever one is.
  async show(number) {
    const top = this.above.getBoundingClientRect().top + scrollY;
    scrollTo(0, top + number * this.height - innerHeight / 2);
    const link = () => this.body.querySelector(`tr[aria-rowindex="${number + 2}"] a`);
    // The answer to an earlier question is dropped where scrolling asked a later one.
    for (let tries = 0; tries < 5 && !link(); tries += 1) await this.renew();
    link()?.focus({ preventScroll: true });
  }

  async renew() {
    const [first, last] = this.seen();
    const start = Math.max(0, first - SPARE);
    const count = Math.max(60, last - start + SPARE);
    const number = ++this.number;
    const mark = this.url.includes("?") ? "&" : "?";
    const answer = await asked(`${this.url}${mark}from=${start}&count=${count}`);
    if (answer === null || number !== this.number) return; // a later one is under way
    const rows = parsed(`<table><tbody>${await answer.text()}</tbody></table>`).querySelector("tbody");
    if (number !== this.number) return;
    this.total = Number(answer.headers.get("X-Total") ?? this.total);
    const found = document.getElementById("found");
    const words = answer.headers.get("X-Found");
    if (found && words) found.textContent = words;
    const href = document.activeElement?.getAttribute?.("href");
    const had = this.body.contains(document.activeElement);
    if (had && this.wouldHide(document.activeElement, start, rows.children.length)) return this.renew();
    this.keepOpened(rows);
    this.body.replaceChildren(...rows.children);
    this.start = start;
    this.size();
    if (had && href) this.body.querySelector(`[href="${CSS.escape(href)}"]`)?.focus({ preventScroll: true });
  }

  wouldHide(link, start, count) {
    // Keys went on while the answer was under way: the row that one is at must not go.
    const at = Number(link.closest("tr[aria-rowindex]")?.getAttribute("aria-rowindex")) - 2;
    const [first, last] = this.seen();
    return at >= first && at < last && (at < start || at >= start + count);
  }

  keepOpened(rows) {
    for (const opened of this.body.querySelectorAll("tr.opened")) {
      const task = opened.previousElementSibling?.dataset.task;
      const row = task && rows.querySelector(`tr[data-task="${task}"]`);
      if (!row) continue;
      row.querySelector("[data-opens]")?.setAttribute("aria-expanded", "true");
      row.after(opened);
    }
  }
}

const lists = [...document.querySelectorAll("table.rows[data-rows]")].map((table) => new Rows(table));

// What changes

let isRenewing = false;
let isWanted = false;

async function renewAll() {
  isWanted = true;
  if (isRenewing || document.hidden) return;
  isRenewing = true;
  while (isWanted && !document.hidden) {
    isWanted = false;
    try {
      for (const list of lists) await list.renew();
      for (const part of document.querySelectorAll("[data-fragment]")) await renewPart(part);
      say("");
    } catch {
      say("The operator does not answer; this page tries again.");
    }
    await new Promise((done) => setTimeout(done, REST_MS));
  }
  isRenewing = false;
}

function concerns(keys) {
  const here = document.querySelector("[data-key][data-fragment]");
  return !here || keys.length === 0 || keys.includes(here.dataset.key);
}

function follow() {
  const { live, position } = document.body.dataset;
  if (!live) return;
  const mark = live.includes("?") ? "&" : "?";
  const source = new EventSource(position ? `${live}${mark}after=${position}` : live);
  source.addEventListener("changed", (event) => {
    if (concerns(JSON.parse(event.data).keys)) renewAll();
  });
  source.addEventListener("again", renewAll);
  source.addEventListener("tasks", renewAll);
  source.addEventListener("end", () => {
    source.close();
    renewAll();
  });
  source.addEventListener("error", () => {
    if (source.readyState === EventSource.CLOSED) setTimeout(() => location.reload(), 5000);
    else say("The connection was lost; this page tries again.");
  });
  source.addEventListener("open", () => say(""));
  addEventListener("pagehide", () => source.close());
}

// What changes without an event, like a label.
const every = document.querySelector("[data-every]")?.dataset.every;
if (every) setInterval(renewAll, 1000 * every);

document.addEventListener("visibilitychange", () => {
  if (isWanted) renewAll();
});

// Details of a task

async function toggle(link) {
  const row = link.closest("tr");
  const after = row.nextElementSibling;
  if (after?.classList.contains("opened")) {
    after.remove();
    link.setAttribute("aria-expanded", "false");
    return;
  }
  const mark = link.getAttribute("href").includes("?") ? "&" : "?";
  const answer = await asked(`${link.getAttribute("href")}${mark}fragment=1`);
  if (answer === null) return;
  const opened = document.createElement("tr");
  opened.className = "opened";
  const cell = opened.insertCell();
  cell.colSpan = row.cells.length;
  cell.append(parsed(await answer.text()));
  row.after(opened);
  link.setAttribute("aria-expanded", "true");
}

document.addEventListener("click", (event) => {
  const link = event.target.closest("a[data-opens]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
  event.preventDefault();
  toggle(link).catch(() => say("The task's details could not be read."));
});

document.addEventListener("click", (event) => {
  const link = event.target.closest("a[data-row]");
  if (!link || !lists.length || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
  event.preventDefault();
  lists[0].show(Number(link.dataset.row)).catch(() => say("The tasks could not be read."));
});

// Keys: / to search, j and k from row to row, Escape to leave

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const isTyping = event.target.matches("input, select, textarea");
  if (event.key === "Escape") event.target.blur();
  else if (isTyping) return;
  else if (event.key === "/") {
    const field = document.getElementById("find-name");
    event.preventDefault();
    if (field) field.focus();
    else location.assign("/crs");
  } else if (event.key === "j" || event.key === "k") {
    const links = [...document.querySelectorAll("main tbody th a")];
    const at = links.indexOf(document.activeElement);
    const inView = links.findIndex((link) => link.getBoundingClientRect().top >= 0);
    const next = at < 0 ? inView : event.key === "j" ? at + 1 : Math.max(0, at - 1);
    links[next]?.focus();
  }
});

showTimes(document);
// The rows above the one that the address names have a place only now.
if (location.hash.startsWith("#task-")) document.getElementById(location.hash.slice(1))?.scrollIntoView();
follow();

export { asked, parsed };

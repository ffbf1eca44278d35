// Moments in the reader's zone: his noon, and the time that he types. Without this script both are UTC.

function lastAt(hours, minutes) {
  const moment = new Date();
  moment.setHours(hours, minutes, 0, 0);
  if (moment > new Date()) moment.setDate(moment.getDate() - 1);
  return moment;
}

function go(moment) {
  location.assign(`/kinds?since=${encodeURIComponent(moment.toISOString())}`);
}

document.addEventListener("click", (event) => {
  const link = event.target.closest("a[data-noon]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
  event.preventDefault();
  go(lastAt(12, 0));
});

document.addEventListener("submit", (event) => {
  if (!event.target.matches("form[data-since]")) return;
  event.preventDefault();
  const [hours, minutes] = event.target.elements.since.value.split(":").map(Number);
  go(lastAt(hours, minutes));
});

for (const link of document.querySelectorAll("a[data-noon]")) {
  link.textContent = "Noon";
  const since = new Date(document.querySelector("form[data-since] input").dataset.moment);
  if (since.getTime() === lastAt(12, 0).getTime()) link.setAttribute("aria-current", "true");
  else link.removeAttribute("aria-current"); // it was noon in UTC
}

for (const field of document.querySelectorAll("form[data-since] input")) {
  const moment = new Date(field.dataset.moment);
  const digits = (number) => String(number).padStart(2, "0");
  field.value = `${digits(moment.getHours())}:${digits(moment.getMinutes())}`;
  field.previousElementSibling.textContent = "Since";
}

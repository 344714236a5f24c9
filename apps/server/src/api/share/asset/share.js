// Shows times in the reader's zone, and reads the page again when the swap has changed. Without this script the page
// works all the same.
const everyMs = 15_000;
let text = "";
let source;

function showTimes() {
	for (const time of document.querySelectorAll("main time")) {
		const at = new Date(time.dateTime);
		const isToday = at.toDateString() === new Date().toDateString();
		time.textContent = isToday
			? at.toLocaleTimeString()
			: at.toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" });
	}
}

function livePath() {
	return document.querySelector("main").dataset.live;
}

function show(next) {
	const main = document.querySelector("main");
	const fresh = next.querySelector("main");
	// A page that has not changed is left alone: somebody may be selecting text in it.
	if (!fresh || fresh.innerHTML === text) return;
	text = fresh.innerHTML;
	const before = main.querySelector("h1")?.textContent;
	main.replaceWith(fresh);
	document.title = next.title;
	showTimes();
	const headline = fresh.querySelector("h1")?.textContent;
	if (headline !== before) document.getElementById("said").textContent = headline;
}

async function refresh() {
	const path = livePath();
	if (!path) return source?.close();
	const response = await fetch(path, { headers: { accept: "text/html" }, cache: "no-store" });
	// A link that was revoked shows that; a service that is busy is asked again.
	if (!response.ok && response.status !== 404) throw new Error(`the service answered ${response.status}`);
	show(new DOMParser().parseFromString(await response.text(), "text/html"));
	document.body.removeAttribute("data-offline");
	if (!livePath()) source?.close();
}

let waiting;
/** Reads the page once for several events that come at once. */
function soon() {
	if (waiting) return;
	waiting = setTimeout(() => {
		waiting = undefined;
		refresh().catch(() => document.body.setAttribute("data-offline", ""));
	}, 100);
}

/** Opens the stream, again if the service refused it. The browser itself opens one again that breaks. */
function listen() {
	const path = livePath();
	if (!path || (source && source.readyState !== EventSource.CLOSED)) return;
	source = new EventSource(`${path}/events`);
	source.onmessage = soon;
	source.addEventListener("end", soon);
}

text = document.querySelector("main").innerHTML;
showTimes();
listen();
setInterval(() => {
	if (document.hidden || !livePath()) return;
	soon();
	listen();
}, everyMs);
document.addEventListener("visibilitychange", () => {
	if (!document.hidden && livePath()) soon();
});

// Replaces the parts of the page that are marked as live, every few seconds, while somebody looks at it. Without this
// script the page works all the same.
const everyMs = 5_000;
const live = () => document.querySelectorAll("[data-live]");

async function refresh() {
	// A person who selects text or types must not lose it.
	if (document.hidden || live().length === 0 || String(getSelection()) !== "") return;
	const response = await fetch(location.href, { headers: { "x-refresh": "1" } });
	if (response.status === 401) return void location.assign("/login");
	if (!response.ok) throw new Error(`the console answered ${response.status}`);
	const next = new DOMParser().parseFromString(await response.text(), "text/html");
	for (const part of live()) {
		const fresh = next.getElementById(part.id);
		if (fresh && fresh.innerHTML !== part.innerHTML && !part.contains(document.activeElement)) {
			part.replaceWith(fresh);
		}
	}
}

function tick() {
	refresh()
		.then(
			() => document.body.removeAttribute("data-stale"),
			() => document.body.setAttribute("data-stale", "The console does not answer. What you see is old."),
		)
		.finally(() => setTimeout(tick, everyMs));
}
setTimeout(tick, everyMs);

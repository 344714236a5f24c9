import { html } from "../../api/page/html.ts";
import type { ConsoleAnswer } from "../route/console-route.ts";

const scripts = ["webauthn.js", "passkey.js"];

/** Returns the page on which an operator logs in. */
export function loginPage(): ConsoleAnswer {
	const body = html`
		<h1>Log in</h1>
		<p>Use the passkey that you registered for this console.</p>
		<form data-passkey="login"><button type="submit">Log in with a passkey</button></form>
		<p class="said" data-said role="alert"></p>
		<noscript><p>Logging in needs scripts. All other pages work without them.</p></noscript>
		<p class="quiet">No passkey yet, or a new device? Ask for a one-time link:</p>
		<pre><code>geoswapd console invite --name NAME</code></pre>`;
	return { kind: "plain", title: "Log in · Geoswap console", body, scripts };
}

/** Returns the page on which a new operator registers a passkey. */
export function invitePage({ name, invite }: { name: string; invite: string }): ConsoleAnswer {
	const body = html`
		<h1>Welcome, ${name}</h1>
		<p>Register a passkey on this device. It is the only way to log in, because there are no passwords.</p>
		<form data-passkey="invite" data-invite=${invite}><button type="submit">Register a passkey</button></form>
		<p class="said" data-said role="alert"></p>
		<noscript><p>Registering a passkey needs scripts. All other pages work without them.</p></noscript>`;
	return { kind: "plain", title: "Register a passkey · Geoswap console", body, scripts };
}

/** Returns the page for a link that is no longer valid. */
export function oldInvitePage(): ConsoleAnswer {
	const body = html`
		<h1>This link is no longer valid</h1>
		<p>A one-time link works once, and for 15 minutes. Ask for another one:</p>
		<pre><code>geoswapd console invite --name NAME</code></pre>
		<p><a href="/login">Log in with a passkey</a></p>`;
	return { kind: "plain", title: "Geoswap console", body, status: 403 };
}

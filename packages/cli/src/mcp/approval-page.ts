import { createHash, randomBytes } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { isSameSecret } from "./is-same-secret.ts";

type Shown = {
	/** The last part of the page's address. */
	token: string;
	text: string;
	expiresAtMs: number;
	answer: (isApproved: boolean) => void;
};

export type ApprovalPage = {
	/** Shows a question until it is answered or expires, and returns the address of its page. */
	show: (question: Shown) => string;
	close: () => Promise<void>;
};

const maxBodyBytes = 1_000;
const style = `:root{color-scheme:light dark;font:16px/1.5 system-ui,sans-serif}
body{max-width:44rem;margin:2rem auto;padding:0 1rem}
pre{font:14px/1.6 ui-monospace,monospace;white-space:pre-wrap;overflow-wrap:anywhere;padding:1rem;border:1px solid GrayText;border-radius:6px}
button{font:inherit;padding:.6rem 1.4rem;margin:0 .8rem 0 0;border:1px solid currentColor;border-radius:6px;cursor:pointer}`;
/** The page has no script, allows only its own style, loads nothing, and cannot be framed. */
const headers = {
	"content-type": "text/html; charset=utf-8",
	"cache-control": "no-store",
	"content-security-policy": `default-src 'none'; style-src 'sha256-${createHash("sha256").update(style).digest("base64")}'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`,
	// With `no-referrer`, a browser would send the origin of an answer as null.
	"referrer-policy": "same-origin",
	"x-content-type-options": "nosniff",
	"x-frame-options": "DENY",
};

/**
 * Serves questions on the loopback address. An answer needs the address of the question, the value that its page has,
 * and headers that only this page sends, so that no other page of the browser can answer.
 */
export async function startApprovalPage(nowMs: () => number = Date.now): Promise<ApprovalPage> {
	const open = new Map<string, Shown & { formToken: string }>();
	let host = "";
	const server = createServer((request, response) => {
		handle(request, response).catch(() => response.destroy());
	});
	await new Promise<void>((resolve, reject) => {
		server.once("error", reject);
		server.listen(0, "127.0.0.1", resolve);
	});
	// The page must not keep the process alive.
	server.unref();
	host = `127.0.0.1:${(server.address() as AddressInfo).port}`;

	return {
		show: (question) => {
			for (const [token, { expiresAtMs }] of open) if (expiresAtMs < nowMs()) open.delete(token);
			open.set(question.token, { ...question, formToken: randomBytes(32).toString("base64url") });
			return `http://${host}/${question.token}`;
		},
		close: async () => {
			server.closeAllConnections();
			await new Promise((resolve) => server.close(resolve));
		},
	};

	async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
		const send = (status: number, title: string, body: string) =>
			response.writeHead(status, headers).end(pageOf(title, body));
		// Another name that leads to this machine would be a page that rebinds its own name.
		if (request.headers.host !== host) return void send(421, "Refused", "<p>This address is not served.</p>");
		const found = open.get((request.url ?? "").slice(1));
		if (!found || found.expiresAtMs < nowMs()) {
			return void send(410, "Over", "<p>This question was answered or has expired. Ask for it again.</p>");
		}
		if (request.method === "GET" || request.method === "HEAD") {
			return void send(200, "Approve this swap?", formOf(found));
		}
		const fetchSite = request.headers["sec-fetch-site"];
		const isOwnPage =
			request.headers.origin === `http://${host}` && (fetchSite === undefined || fetchSite === "same-origin");
		const form = new URLSearchParams(await readBody(request));
		if (request.method !== "POST" || !isOwnPage || !isSameSecret(form.get("form") ?? "", found.formToken)) {
			return void send(403, "Refused", "<p>The answer did not come from this page.</p>");
		}
		const isApproved = form.get("answer") === "approve";
		open.delete(found.token);
		found.answer(isApproved);
		const said = isApproved ? "Approved. The swap goes on." : "Declined. Nothing is swapped.";
		send(200, isApproved ? "Approved" : "Declined", `<p>${said} You can close this page.</p>`);
	}
}

function formOf({ text, formToken, expiresAtMs }: Shown & { formToken: string }): string {
	const [, ...lines] = text.split("\n");
	return `<pre>${escaped(lines.join("\n"))}</pre>
<p>This page answers once, until ${new Date(expiresAtMs).toISOString()}. Compare the addresses.</p>
<form method="post">
<input type="hidden" name="form" value="${formToken}">
<button name="answer" value="decline">Decline</button>
<button name="answer" value="approve">Approve</button>
</form>`;
}

function pageOf(title: string, body: string): string {
	return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${title}</title>
<style>${style}</style>
<h1>${title}</h1>
${body}
</html>
`;
}

function escaped(text: string): string {
	return text
		.replaceAll("&", "&amp;")
		.replaceAll("<", "&lt;")
		.replaceAll(">", "&gt;")
		.replaceAll('"', "&quot;");
}

async function readBody(request: IncomingMessage): Promise<string> {
	let text = "";
	for await (const chunk of request) {
		text += String(chunk);
		if (text.length > maxBodyBytes) throw new Error("the body is too long");
	}
	return text;
}

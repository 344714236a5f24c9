import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import type { SwapEventBody } from "@geoswap/protocol";
import { Webhook } from "standardwebhooks";

/**
 * A line of the ledger. `acted` is false if the event came again and was already in the ledger, so nothing was done.
 */
export type ReceivedLine = { acted: boolean; event: SwapEventBody };

// A receiver of webhooks, as docs/events.md requires. It acts on an event by adding a line to its ledger, and finds in
// the ledger what it has acted on. It can be killed at any moment and started again with the same ledger.
const [ledger = "", port = ""] = process.argv.slice(2);
const webhook = new Webhook(process.env.WEBHOOK_SECRET ?? "");
const known = new Set(readLines().map(({ event }) => event.id));
let received = 0;

createServer((request, response) => {
	// A sender that timed out meanwhile sends the event again.
	receive(request, response).catch(() => response.destroy());
}).listen(Number(port), "127.0.0.1");

async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
	const body = await text(request);
	const headers = Object.fromEntries(
		Object.entries(request.headers).map(([name, value]) => [name, String(value)]),
	);
	let event: SwapEventBody;
	try {
		event = webhook.verify(body, headers) as SwapEventBody;
	} catch {
		return void response.writeHead(400).end();
	}
	const line: ReceivedLine = { acted: !known.has(event.id), event };
	known.add(event.id);
	appendFileSync(ledger, `${JSON.stringify(line)}\n`);
	received++;
	// If the answer is lost on its way back, the sender cannot know whether the event arrived.
	if (received % 3 === 0) request.socket.destroy();
	else response.writeHead(204).end();
}

function readLines(): ReceivedLine[] {
	if (!existsSync(ledger)) return [];
	return readFileSync(ledger, "utf8")
		.trimEnd()
		.split("\n")
		.map((line) => JSON.parse(line));
}

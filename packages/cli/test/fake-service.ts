import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type Order, packDeadlines, type StatusResponse } from "@geoswap/protocol";
import * as evm from "../../sdk/test/op-fixture.ts";
import * as solana from "../../sdk/test/solana-op-fixture.ts";

/** The swap id of the fixtures' order. */
export const { swapId } = evm.makeQuote();
export const recipient = evm.makeQuote().recipient;
export const pins = solana.makePins();
export const evmKey = `0x${"11".repeat(32)}`;
/** 32 bytes, as a JSON array. */
export const solanaKey = JSON.stringify(Array(32).fill(0x11));

const orderId = `0x${"0d".repeat(32)}` as const;

export function makeStatus(changes: Partial<StatusResponse> = {}): StatusResponse {
	return {
		swapId,
		status: "settled",
		stage: "delivered",
		orderId,
		originTxHash: `0x${"a1".repeat(32)}`,
		deliveryTxHash: `0x${"a2".repeat(32)}`,
		updatedAt: "2026-06-01T12:00:40.000Z",
		funds: {
			chainId: 31338,
			holder: "recipient",
			token: pins.chains[1]?.settlementToken ?? "",
			amount: "9980000",
		},
		terms: {
			originChain: 31337,
			destinationChain: 31338,
			inputToken: pins.chains[0]?.settlementToken ?? "",
			outputToken: pins.chains[1]?.settlementToken ?? "",
			amount: "10000000",
			walletAddress: recipient,
			recipient,
			output: "9980000",
			minOutput: "9930000",
			feeBps: 12.5,
			networkCost: { token: pins.chains[1]?.settlementToken ?? "", amount: "7500" },
		},
		deliveredAmount: "9980000",
		quotedAt: "2026-06-01T12:00:00.000Z",
		createdAt: "2026-06-01T12:00:03.000Z",
		openedAt: "2026-06-01T12:00:10.000Z",
		deliveredAt: "2026-06-01T12:00:38.000Z",
		endedAt: "2026-06-01T12:00:40.000Z",
		links: { delivery: `https://explorer.example/tx/0x${"a2".repeat(32)}` },
		...changes,
	};
}

export const pending = makeStatus({
	status: "pending",
	stage: "deposited",
	decidedBy: "2026-06-01T13:00:00.000Z",
	funds: {
		chainId: 31337,
		holder: "escrow",
		token: pins.chains[0]?.settlementToken ?? "",
		amount: "10000000",
	},
});

type Answer = {
	status?: number;
	body: unknown;
	/** The body is the text of a stream of events, which ends there. */
	isStream?: boolean;
};
type Handler = (request: {
	path: string;
	query: URLSearchParams;
	body: Record<string, unknown>;
}) => Answer | "hold";

/** Starts a service that has the fixtures' one order. A test may replace its responses by path. */
export async function startFakeService() {
	const seen: { method: string; path: string; apiKey: string | undefined; body: string }[] = [];
	const handlers: Record<string, Handler> = defaultHandlers();
	const server = createServer((incoming, response) => {
		void answer(incoming, response);
	});
	async function answer(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
		const chunks: Buffer[] = [];
		for await (const chunk of incoming) chunks.push(chunk as Buffer);
		const { pathname, searchParams } = new URL(incoming.url ?? "/", "http://localhost");
		const body = Buffer.concat(chunks).toString();
		const apiKey = incoming.headers["x-api-key"];
		seen.push({
			method: incoming.method ?? "",
			path: pathname,
			apiKey: apiKey ? String(apiKey) : undefined,
			body,
		});
		const name = pathname.startsWith("/swap/status/") ? "/swap/status" : pathname;
		const answered = handlers[name]?.({
			path: pathname,
			query: searchParams,
			body: body ? JSON.parse(body) : {},
		});
		if (answered === "hold") return;
		const {
			status = 200,
			body: content,
			isStream = false,
		} = answered ?? refusal(404, "NOT_FOUND", "fix_request");
		response.writeHead(status, { "content-type": isStream ? "text/event-stream" : "application/json" });
		response.end(isStream ? content : JSON.stringify(content));
	}
	await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
	return {
		baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
		seen,
		handlers,
		reset: () => {
			seen.length = 0;
			for (const name of Object.keys(handlers)) delete handlers[name];
			Object.assign(handlers, defaultHandlers());
		},
		close: async () => {
			server.closeAllConnections();
			await new Promise((resolve) => server.close(resolve));
		},
	};
}

export function refusal(status: number, code: string, next: string, retryable = false): Answer {
	return {
		status,
		body: { code, message: `${code} happened. Do ${next}.`, next, retryable, requestId: "req-1" },
	};
}

function defaultHandlers(): Record<string, Handler> {
	const [one, two] = pins.chains;
	const token = (chainId: number, symbol: string, address: string, decimals: number) => ({
		chainId,
		symbol,
		address,
		decimals,
		kind: "stable",
		native: false,
		live: true,
		minimumUsd: "1.00",
		maximumUsd: "10000.00",
	});
	return {
		"/chains": () => ({
			body: {
				chains: [
					...pins.chains.map(({ chainId, name, contracts, attesterSet, settlementToken }) => ({
						chainId,
						name,
						kind: "evm",
						nativeToken: "0x",
						settlementToken,
						openSeconds: 300,
						finalitySeconds: 20,
						live: true,
						contracts: { ...contracts, attesterSet: attesterSet.hash },
					})),
				],
			},
		}),
		"/tokens": () => ({
			body: {
				tokens: [
					token(31337, "USDC", one?.settlementToken ?? "", 6),
					token(31338, "USDC", two?.settlementToken ?? "", 6),
				],
			},
		}),
		"/swap/delegation": ({ query }) => ({
			body: {
				chainId: Number(query.get("chainId")),
				walletAddress: query.get("walletAddress"),
				delegated: true,
				originReady: true,
				delegatedTo: one?.contracts.delegate,
			},
		}),
		"/swap/quote": ({ body }) => {
			const fixture = Number(body.originChain) === 31337 ? evm : solana;
			return { body: fixture.makeQuoteBody({ expiresAt: new Date(Date.now() + 30_000).toISOString() }) };
		},
		"/swap/build-geo-op": () => ({ body: makeEvmBuild() }),
		"/swap/submit": () => ({ body: { swapId, status: "pending" } }),
		"/swap/submit-solana": () => ({ body: { swapId, status: "pending" } }),
		"/swap/status": () => ({ body: makeStatus() }),
		"/rpc": ({ body }) => ({
			body: { jsonrpc: "2.0", id: body.id, result: nodeAnswer(String(body.method)) },
		}),
		"/swaps": () => ({ body: { swaps: [{ ...makeStatus(), createdAt: "2026-06-01T12:00:00.000Z" }] } }),
	};
}

/** Responds like a node of the first chain, on which every wallet holds 10 USDC. */
function nodeAnswer(method: string): string {
	return method === "eth_chainId" ? "0x7a69" : `0x${(10_000_000).toString(16).padStart(64, "0")}`;
}

/** Returns deadlines that are still ahead. */
function fresh() {
	const now = BigInt(Math.floor(Date.now() / 1000));
	return {
		deadlines: packDeadlines({
			openDeadline: now + 300n,
			fillDeadline: now + 2_000n,
			refundAfter: now + 90_000n,
		}),
	};
}

function expiry() {
	return { expiresAt: new Date(Date.now() + 90_000).toISOString() };
}

export function makeEvmBuild(changes: Partial<Order> = {}) {
	return { ...evm.makeBuild({ order: evm.makeOrder({ ...fresh(), ...changes }) }), ...expiry() };
}

export async function makeSolanaBuild() {
	return { ...(await solana.makeBuild({ order: solana.makeOrder(fresh()) })), ...expiry() };
}

import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type Hash, type Hex, isHash, keccak256 } from "viem";
import { sign } from "viem/accounts";
import type { TestChain } from "../devnet-chain.ts";
import { cctpAttesterKeys, cctpOf } from "./add-cctp.ts";
import { attestableMessage, readSentMessages, type SentMessage } from "./sent-message.ts";

/** What the model does about a message. */
export type IrisMood =
	/** Attests it as soon as Circle would. */
	| "honest"
	/** Never knows it. */
	| "silent"
	/** Leaves it pending until a new attestation is requested. */
	| "lost"
	/** Attests it with a block of expiry that has passed, until a new attestation is requested. */
	| "expired"
	/** Leaves it pending until this long after its block. */
	| { lateMs: number }
	/** Signs it with keys that are not the attesters'. */
	| "forged"
	/** Attests other bytes, with valid signatures. */
	| { wrong: (message: Hex) => Hex };

/** What the model does about all requests. */
export type IrisService = "up" | "hung" | "failing" | "limited" | "garbage" | "endless";

/** A model of Circle's attestation service, with its paths and answers, and development keys. */
export type DevIris = {
	url: string;
	service: IrisService;
	/** The mood of messages that `moodOf` does not name. */
	mood: IrisMood;
	/** The mood of each message of a transaction. */
	moodOf: Map<Hash, IrisMood>;
	/** The nonces of which a new attestation was requested. */
	reattested: Set<Hex>;
	requests: number;
	stop: () => Promise<void>;
};

/** Burns with at most this threshold are fast ones. */
const fastThreshold = 1_000;
const finalizedThreshold = 2_000;
/** Blocks of the destination for which a fast attestation is valid. */
const validBlocks = 1_000n;

type Answer = { status: number; body?: unknown; text?: string; headers?: Record<string, string> };

/** Starts the model on a free port of this machine. */
export async function startIris({
	chains,
	fastFeeBps = 1n,
	now = Date.now,
	port = 0,
}: {
	chains: readonly TestChain[];
	/** The fee of a fast burn. A burn with a lower maximum becomes a standard one. */
	fastFeeBps?: bigint;
	now?: () => number;
	port?: number;
}): Promise<DevIris> {
	const keys = cctpAttesterKeys();
	const models = chains.map(cctpOf);
	const open = new Set<ServerResponse>();
	/** Messages that were requested, by nonce. */
	const known = new Map<Hex, SentMessage>();

	async function answer(request: IncomingMessage): Promise<Answer> {
		iris.requests++;
		if (iris.service === "hung") return new Promise(() => {});
		if (iris.service === "failing") return { status: 503, body: { error: "unavailable" } };
		if (iris.service === "limited") return { status: 429, body: {}, headers: { "retry-after": "7" } };
		if (iris.service === "garbage") return { status: 200, text: '{"messages":[{"status":"complete"' };
		if (iris.service === "endless") return { status: 200, text: "x".repeat(1 << 20) };
		const { pathname, searchParams } = new URL(request.url ?? "/", "http://iris");
		const [, version, kind, id = "", ...rest] = pathname.split("/");
		if (version !== "v2" || rest.length > 0) return { status: 404, body: { error: "not found" } };
		if (request.method === "GET" && kind === "messages") {
			return getMessages(Number(id), searchParams.get("transactionHash") ?? "");
		}
		if (request.method === "POST" && kind === "reattest") return reattest(id as Hex);
		return { status: 404, body: { error: "not found" } };
	}

	async function getMessages(domain: number, hash: string): Promise<Answer> {
		const from = models.find((one) => one.domain === domain);
		if (!from || !isHash(hash)) return { status: 400, body: { error: "invalid request" } };
		const mood = iris.moodOf.get(hash) ?? iris.mood;
		const sent = mood === "silent" ? [] : await readSentMessages(from, hash);
		if (sent.length === 0) return { status: 404, body: { code: 404, error: "Message hash not found" } };
		const messages = [];
		for (const one of sent) {
			known.set(one.nonce, one);
			messages.push(await describe(one, mood));
		}
		return { status: 200, body: { messages } };
	}

	/** Circle signs anew what was not signed as final. */
	function reattest(nonce: Hex): Answer {
		const sent = known.get(nonce);
		if (!sent) return { status: 404, body: { error: "nonce not found" } };
		if (sent.minFinalityThreshold > fastThreshold)
			return { status: 400, body: { error: "already finalized" } };
		iris.reattested.add(nonce);
		return { status: 200, body: { message: "Re-attestation successfully requested for nonce.", nonce } };
	}

	async function describe(sent: SentMessage, mood: IrisMood) {
		const { nonce, amount, maxFee, minFinalityThreshold } = sent;
		const fee = (amount * fastFeeBps + 9_999n) / 10_000n;
		const isPaid = fee <= maxFee;
		const isAnew = iris.reattested.has(nonce);
		const isFast = minFinalityThreshold <= fastThreshold && isPaid && !isAnew;
		const delayReason = minFinalityThreshold <= fastThreshold && !isPaid ? "insufficient_fee" : null;
		const isLate = typeof mood === "object" && "lateMs" in mood && now() < sent.atMs + mood.lateMs;
		const isLost = mood === "lost" && !isAnew;
		if (isLate || isLost || !(isFast || (await isFinal(sent)))) {
			return {
				message: "0x",
				eventNonce: nonce,
				attestation: "PENDING",
				decodedMessage: null,
				cctpVersion: 2,
				status: "pending_confirmations",
				delayReason,
			};
		}
		const honest = attestableMessage(sent.bytes, {
			nonce,
			finalityThresholdExecuted: isFast ? fastThreshold : finalizedThreshold,
			// Circle has reserved its allowance, and keeps the fee of a message that it signs anew.
			feeExecuted: minFinalityThreshold <= fastThreshold && isPaid ? fee : 0n,
			expirationBlock: isFast ? await expirationBlock(sent, mood) : 0n,
		});
		const message = typeof mood === "object" && "wrong" in mood ? mood.wrong(honest) : honest;
		const hash = keccak256(message);
		const signers = mood === "forged" ? keys.map((key) => keccak256(key)) : keys;
		const signatures = await Promise.all(signers.map((privateKey) => sign({ hash, privateKey, to: "hex" })));
		return {
			message,
			eventNonce: nonce,
			attestation: `0x${signatures.map((one) => one.slice(2)).join("")}`,
			decodedMessage: null,
			cctpVersion: 2,
			status: "complete",
			delayReason,
		};
	}

	async function isFinal({ from, blockNumber }: SentMessage): Promise<boolean> {
		const { number } = await from.chain.publicClient.getBlock({ blockTag: "finalized" });
		return blockNumber <= number;
	}

	async function expirationBlock({ destinationDomain }: SentMessage, mood: IrisMood): Promise<bigint> {
		const to = models.find(({ domain }) => domain === destinationDomain);
		if (!to) throw new Error(`no chain has domain ${destinationDomain}`);
		const newest = await to.chain.publicClient.getBlockNumber();
		return mood === "expired" ? newest : newest + validBlocks;
	}

	const respond = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
		open.add(response);
		response.once("close", () => open.delete(response));
		const { status, body, text, headers } = await answer(request);
		response
			.writeHead(status, { "content-type": "application/json", ...headers })
			.end(text ?? JSON.stringify(body));
	};
	const server = createServer((request, response) => {
		respond(request, response).catch(() => response.destroy());
	});
	await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
	const iris: DevIris = {
		url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
		service: "up",
		mood: "honest",
		moodOf: new Map(),
		reattested: new Set(),
		requests: 0,
		stop: async () => {
			for (const response of open) response.destroy();
			await new Promise<void>((resolve) => {
				server.close(() => resolve());
				server.closeAllConnections();
			});
		},
	};
	return iris;
}

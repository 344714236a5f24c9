import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import {
	type AuthorizationBody,
	addressOfWord,
	type DelegationResponse,
	type ErrorCode,
	errorCatalogue,
	formatAddress,
	fromSwapKey,
	fromWord,
	isSolana,
	mulDivDown,
	mulDivUp,
	type NextStep,
	newSwapUuid,
	type Order,
	orderId,
	packDeadlines,
	parseAddress,
	type QuoteRequestBody,
	type StatusResponse,
	type SwapStatus,
	toSwapId,
	toSwapKey,
	unpackDeadlines,
	wordOfAddress,
} from "@geoswap/protocol";
import {
	address,
	getBase64Encoder,
	getPublicKeyFromAddress,
	getTransactionDecoder,
	type SignatureBytes,
	verifySignature,
} from "@solana/kit";
import { type Address, type Hex, hashMessage, isAddressEqual, recoverAddress } from "viem";
import { type Client, createClient } from "../src/create-client.ts";
import { sleep } from "../src/sleep.ts";
import * as evm from "./op-fixture.ts";
import * as solana from "./solana-op-fixture.ts";

export type SubmitPath = "/swap/submit" | "/swap/submit-solana";
export type Path =
	| SubmitPath
	| "/swap/quote"
	| "/swap/delegation"
	| "/swap/build-geo-op"
	| "/swap/build-solana-tx"
	| "/swap/status"
	| "/tokens";

/** The fault of one request. A late copy arrives after this many milliseconds, regardless of its sender. */
export type Fault =
	| { kind: "lost" | "answer lost" | "doubled" | "cut" | "error before" | "error after" | "proxy error" }
	| { kind: "late" | "copied late"; lateMs: number }
	/**
	 * While the chain would execute it, the service reports that it failed, and executes it this much later. It does not
	 * lie about the past, because a caller without a node has no other source.
	 */
	| { kind: "kept"; says: ErrorCode; lateMs: number }
	/** The database is restored from a backup that is older than all swaps. */
	| { kind: "restored" };

export type Refusal = {
	code: ErrorCode;
	next?: NextStep;
	retryAfterSeconds?: number;
	times?: number;
	details?: Record<string, string>;
};

type BuildBody = { geoQuoteToken: string; authorization?: AuthorizationBody };
type Quote = { order: Order; expiresAtMs: number; opExpiresAtMs: number };
type Op = Quote & {
	hash?: Hex;
	/** The delegate with which the wallet pays. */
	delegate?: Address;
	message?: string;
	authorization?: AuthorizationBody;
	/** The last moment at which its chain executes it. */
	livesUntilMs: number;
};
type Swap = { swapId: string; order: Order; endsAtMs: number };
type Answer = { status: number; headers?: Record<string, string>; body: unknown };

/** Thrown to answer with a code of the catalogue. */
class Refused extends Error {
	readonly refusal: Refusal;

	constructor(refusal: Refusal) {
		super(refusal.code);
		this.refusal = refusal;
	}
}

/** The life of a blockhash, 150 blocks. */
const blockhashMs = 100_000;

/** Codes that are returned before anything else is checked. */
const saidAtTheDoor: ErrorCode[] = ["RATE_LIMITED", "UPSTREAM_UNAVAILABLE", "UNAUTHORIZED", "INTERNAL"];

export type ModelService = Awaited<ReturnType<typeof startModelService>>;

/**
 * Starts the service as its callers know it, in memory: builds that verify, signatures that are checked, one swap for a
 * quote, a database that can be restored from a backup, and a chain that cannot.
 */
export async function startModelService(lives: { quoteMs?: number; opMs?: number; openMs?: number } = {}) {
	const quotes = new Map<string, Quote>();
	const ops = new Map<string, Op>();
	/** The database: swaps by order id. */
	const swaps = new Map<Hex, Swap>();
	/** Every order that was ever opened, once for each time. A restore does not remove them. */
	const opened: Order[] = [];
	/** What the chain has executed. An order on an EVM chain, where it opens once; the bytes on Solana. */
	const executed = new Set<string>();
	let blocks = 0;
	const refusals = new Map<Path, Refusal[]>();
	const requests: { path: Path; body: string; atMs: number }[] = [];
	/** Copies that are still in flight. */
	const late = new Set<Promise<unknown>>();
	const contracts = originContracts();
	const knobs = {
		// The lives are long, because most tests are not about time, and time may run faster.
		quoteMs: lives.quoteMs ?? 600_000,
		opMs: lives.opMs ?? 600_000,
		/** Time until an order's open deadline. */
		openMs: lives.openMs ?? 800_000,
		settleMs: 3_000,
		/** Time for which a status call is held. */
		holdMs: 1_500,
		/** The quoted input of an exact output. */
		input: 10_000_000n,
		/** The quoted output. */
		output: 9_980_000n,
		/** The top-up of a request that names one in USD. */
		topUp: 2_000_000n,
		endsAs: "settled" as Exclude<SwapStatus, "pending">,
		/** State of the wallet on its EVM chain. */
		isDelegated: true,
		/**
		 * The delegate of a wallet that is delegated, and of one that is to be delegated again, an earlier delegate.
		 */
		delegate: contracts.delegate as Address,
		accountNonce: 0,
		/** The wallet's balance of any token. */
		balance: 1_000_000_000n,
		fault: undefined as ((path: Path) => Fault | undefined) | undefined,
		/** Changes the response, for a service that lies. */
		lie: undefined as ((path: Path, body: never) => unknown) | undefined,
	};

	function refuseIfTold(path: Path, isAtTheDoor: boolean): void {
		const queue = refusals.get(path) ?? [];
		const [first] = queue;
		if (!first || saidAtTheDoor.includes(first.code) !== isAtTheDoor) return;
		const { times = 1 } = first;
		if (times <= 1) queue.shift();
		else queue[0] = { ...first, times: times - 1 };
		throw new Refused(first);
	}

	function quote(body: QuoteRequestBody) {
		const [originChain, destinationChain] = [Number(body.originChain), Number(body.destinationChain)];
		const fixture = isSolana(originChain) ? solana : evm;
		const word = (chainId: number, text: string) => {
			const parsed = parseAddress(chainId, isSolana(chainId) ? text : text.toLowerCase());
			if (parsed === undefined) throw new Refused({ code: "INVALID_REQUEST" });
			return wordOfAddress(chainId, parsed);
		};
		const { slippageBps = 50, recipient = body.walletAddress } = body;
		const nowMs = Date.now();
		const uuid = newSwapUuid({ nowMs, random: crypto.getRandomValues(new Uint8Array(10)) });
		const openDeadline = BigInt(Math.floor((nowMs + knobs.openMs) / 1000));
		// An exact output takes the input of the knobs.
		const output =
			body.outputAmount === undefined
				? knobs.output
				: mulDivUp(BigInt(body.outputAmount), 10_000n, 10_000n - BigInt(slippageBps));
		const inputAmount = body.amount === undefined ? knobs.input : BigInt(body.amount);
		const minOutput = mulDivDown(output, 10_000n - BigInt(slippageBps), 10_000n);
		const topUp = BigInt(body.topUp ?? (body.topUpUsd === undefined ? 0n : knobs.topUp));
		const order = fixture.makeOrder({
			topUp,
			wallet: word(originChain, body.walletAddress),
			inputToken: word(originChain, body.inputToken),
			inputAmount,
			outputToken: word(destinationChain, body.outputToken),
			recipient: word(destinationChain, recipient),
			minOutput,
			swapKey: toSwapKey(uuid),
			deadlines: packDeadlines({
				openDeadline,
				fillDeadline: openDeadline + 2_000n,
				refundAfter: openDeadline + 90_000n,
			}),
		});
		const geoQuoteToken = `quote-${randomUUID()}`;
		const [expiresAtMs, opExpiresAtMs] = [nowMs + knobs.quoteMs, nowMs + knobs.opMs];
		quotes.set(geoQuoteToken, { order, expiresAtMs, opExpiresAtMs });
		return fixture.makeQuoteBody({
			geoQuoteToken,
			expiresAt: new Date(expiresAtMs).toISOString(),
			amount: inputAmount,
			output,
			minOutput,
			swapId: toSwapId(uuid),
			recipient,
			slippageBps,
			...(topUp > 0n && { topUp }),
		});
	}

	function liveQuote(geoQuoteToken: string): Quote {
		const found = quotes.get(geoQuoteToken);
		if (!found) throw new Refused({ code: "INVALID_TOKEN" });
		if (Date.now() > found.expiresAtMs) throw new Refused({ code: "QUOTE_EXPIRED" });
		return found;
	}

	/** Returns the delegate with which the wallet pays. Refuses a missing or stale authorization. */
	function checkDelegation(given: Pick<AuthorizationBody, "address" | "nonce"> | undefined): Address {
		const { delegate, typedDelegate } = contracts;
		const target = [delegate, typedDelegate].find((one) => one === given?.address);
		if (knobs.isDelegated && (!target || target === knobs.delegate)) return knobs.delegate;
		if (given === undefined) throw new Refused({ code: "NEEDS_DELEGATION" });
		if (!target || Number(given.nonce) !== knobs.accountNonce) {
			throw new Refused({ code: "INVALID_AUTHORIZATION" });
		}
		return target;
	}

	function delegation(query: URLSearchParams): DelegationResponse {
		const { delegate, typedDelegate, earlierDelegates } = contracts;
		const { isDelegated, accountNonce } = knobs;
		const isEarlier = earlierDelegates.includes(knobs.delegate);
		return {
			chainId: Number(query.get("chainId")),
			walletAddress: query.get("walletAddress") ?? "",
			delegated: isDelegated || isEarlier,
			originReady: isDelegated,
			accountNonce,
			...(query.has("token") && { balance: String(knobs.balance) }),
			...((isDelegated || isEarlier) && { delegatedTo: knobs.delegate }),
			...(!isDelegated && { delegationTarget: delegate, typedDelegationTarget: typedDelegate }),
		};
	}

	function buildEvm({ geoQuoteToken, authorization }: BuildBody) {
		const found = liveQuote(geoQuoteToken);
		const delegate = checkDelegation(authorization);
		const build = evm.makeBuild({ order: found.order, delegate });
		const geoOpToken = `op-${randomUUID()}`;
		ops.set(geoOpToken, {
			...found,
			hash: build.geoOpHash as Hex,
			delegate,
			livesUntilMs: Number(unpackDeadlines(found.order.deadlines).openDeadline) * 1_000,
			...(authorization && { authorization }),
		});
		return { ...build, geoOpToken, expiresAt: new Date(found.opExpiresAtMs).toISOString() };
	}

	async function buildSolana(body: { geoQuoteToken: string }) {
		const found = liveQuote(body.geoQuoteToken);
		const build = await solana.makeBuild({ order: found.order, block: ++blocks });
		const geoOpToken = `op-${randomUUID()}`;
		const livesUntilMs = Date.now() + blockhashMs;
		const opExpiresAtMs = Math.min(found.opExpiresAtMs, livesUntilMs);
		ops.set(geoOpToken, { ...found, opExpiresAtMs, message: build.geoOp.message, livesUntilMs });
		return { ...build, geoOpToken, expiresAt: new Date(opExpiresAtMs).toISOString() };
	}

	async function isSigned(
		{ order, hash, delegate, message }: Op,
		body: Record<string, string>,
	): Promise<boolean> {
		if (hash) {
			const digests = [hash, ...(delegate === contracts.delegate ? [hashMessage({ raw: hash })] : [])];
			const signature = body.signature as Hex;
			const signers = await Promise.all(digests.map((digest) => recoverAddress({ hash: digest, signature })));
			return signers.some((signer) => isAddressEqual(signer, fromWord(order.wallet)));
		}
		const bytes = getBase64Encoder().encode(body.signedTransaction ?? "");
		const { messageBytes, signatures } = getTransactionDecoder().decode(bytes);
		if (Buffer.from(messageBytes).toString("base64") !== message) {
			throw new Refused({ code: "TRANSACTION_CHANGED" });
		}
		const wallet = address(walletOf(order));
		const signature = signatures[wallet] as SignatureBytes | null;
		return (
			signature !== null && verifySignature(await getPublicKeyFromAddress(wallet), signature, messageBytes)
		);
	}

	function execute({ order, message, livesUntilMs }: Op): void {
		const what = message ?? orderId(order);
		if (executed.has(what) || Date.now() > livesUntilMs) return;
		executed.add(what);
		opened.push(order);
	}

	/** Executes later what was signed, without reporting it. Returns false if it has expired. */
	function executeLater(text: string, lateMs: number): boolean {
		const op = ops.get((JSON.parse(text) as Record<string, string>).geoOpToken ?? "");
		if (!op || Date.now() > op.livesUntilMs) return false;
		doLater(lateMs, async () => execute(op));
		return true;
	}

	function doLater(lateMs: number, what: () => Promise<unknown>): void {
		const arriving = sleep(lateMs)
			.then(what)
			.finally(() => late.delete(arriving));
		late.add(arriving);
	}

	async function submit(path: SubmitPath, body: Record<string, string>) {
		const op = ops.get(body.geoOpToken ?? "");
		if (!op || (op.hash === undefined) === (path === "/swap/submit")) {
			throw new Refused({ code: "INVALID_TOKEN" });
		}
		if (!(await isSigned(op, body))) throw new Refused({ code: "INVALID_SIGNATURE" });
		// There is no await from here on, so two concurrent calls run one after the other.
		const { order, opExpiresAtMs, authorization } = op;
		const id = orderId(order);
		const swapId = toSwapId(fromSwapKey(order.swapKey));
		if (swaps.has(id)) return { swapId, status: statusOf(swaps.get(id)) };
		const isOpen = opened.some((other) => orderId(other) === id);
		if (!isOpen) {
			if (Date.now() > opExpiresAtMs) throw new Refused({ code: "OP_EXPIRED" });
			refuseIfTold(path, false);
			const delegate = op.hash && checkDelegation(authorization);
			execute(op);
			if (delegate) Object.assign(knobs, { isDelegated: true, delegate });
		}
		swaps.set(id, { swapId, order, endsAtMs: Date.now() + knobs.settleMs });
		return { swapId, status: "pending" };
	}

	function statusOf(swap: Swap | undefined): SwapStatus {
		return swap && Date.now() >= swap.endsAtMs ? knobs.endsAs : "pending";
	}

	async function status(swapId: string): Promise<StatusResponse> {
		const find = () => [...swaps.values()].find((swap) => swap.swapId === swapId);
		const untilMs = Date.now() + knobs.holdMs;
		while (find() && statusOf(find()) === "pending" && Date.now() < untilMs) await sleep(250);
		const swap = find();
		if (!swap) throw new Refused({ code: "SWAP_NOT_FOUND" });
		const { order } = swap;
		const state = statusOf(swap);
		const isDelivered = state === "settled";
		const chainId = Number(isDelivered ? order.destinationChainId : order.originChainId);
		const token = isDelivered ? order.outputToken : order.inputToken;
		return {
			swapId,
			status: state,
			stage: isDelivered ? "delivered" : "opening",
			orderId: orderId(order),
			...(isDelivered && { originTxHash: order.swapKey, deliveryTxHash: order.swapKey }),
			updatedAt: new Date(swap.endsAtMs).toISOString(),
			funds: {
				chainId,
				holder: isDelivered ? "recipient" : state === "pending" ? "escrow" : "wallet",
				token: formatAddress(BigInt(chainId), addressOfWord(BigInt(chainId), token)),
				amount: String(isDelivered ? order.minOutput : order.inputAmount),
			},
			terms: {
				originChain: Number(order.originChainId),
				destinationChain: Number(order.destinationChainId),
				inputToken: String(order.inputToken),
				outputToken: String(order.outputToken),
				amount: String(order.inputAmount),
				walletAddress: String(order.wallet),
				recipient: String(order.recipient),
				output: String(order.minOutput),
				minOutput: String(order.minOutput),
				feeBps: 0,
			},
			quotedAt: new Date(swap.endsAtMs).toISOString(),
			createdAt: new Date(swap.endsAtMs).toISOString(),
			links: {},
		};
	}

	function tokens(): { chainId: number; address: string; live: boolean }[] {
		const { chains, solana: solanaPins } = solana.makePins();
		return [...chains, ...(solanaPins ? [solanaPins] : [])].flatMap(({ chainId, assets }) =>
			assets.map(({ address }) => ({ chainId, address, live: true })),
		);
	}

	async function answerTo(path: Path, url: URL, text: string): Promise<Answer> {
		try {
			refuseIfTold(path, true);
			const body = text === "" ? {} : JSON.parse(text);
			if (path !== "/swap/submit" && path !== "/swap/submit-solana") refuseIfTold(path, false);
			switch (path) {
				case "/swap/quote":
					return { status: 200, body: quote(body) };
				case "/tokens":
					return { status: 200, body: { tokens: tokens() } };
				case "/swap/delegation":
					return { status: 200, body: delegation(url.searchParams) };
				case "/swap/build-geo-op":
					return { status: 200, body: buildEvm(body) };
				case "/swap/build-solana-tx":
					return { status: 200, body: await buildSolana(body) };
				case "/swap/submit":
				case "/swap/submit-solana":
					return { status: 200, body: await submit(path, body) };
				case "/swap/status":
					return { status: 200, body: await status(url.pathname.split("/").at(-1) ?? "") };
			}
		} catch (error) {
			if (error instanceof Refused) return errorAnswer(error.refusal);
			throw error;
		}
	}

	async function handle(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
		const chunks: Buffer[] = [];
		for await (const chunk of incoming) chunks.push(chunk as Buffer);
		const text = Buffer.concat(chunks).toString();
		const url = new URL(incoming.url ?? "", "http://model");
		const path = url.pathname.split("/").slice(0, 3).join("/") as Path;
		requests.push({ path, body: text, atMs: Date.now() });
		const answer = () => answerTo(path, url, text);
		const hangUp = () => incoming.socket.destroy();
		const fault = knobs.fault?.(path);
		switch (fault?.kind) {
			case "lost":
				return void hangUp();
			case "answer lost":
				await answer();
				return void hangUp();
			case "late":
				doLater(fault.lateMs, answer);
				return void hangUp();
			case "copied late":
				doLater(fault.lateMs, answer);
				break;
			case "kept":
				if (executeLater(text, fault.lateMs)) return send(response, errorAnswer({ code: fault.says }));
				break;
			case "doubled":
				await Promise.all([answer(), answer()]);
				break;
			case "cut": {
				const { status: code, headers, body } = await answer();
				const whole = JSON.stringify(body);
				response.writeHead(code, { ...headers, "content-length": whole.length });
				response.write(whole.slice(0, whole.length / 2), hangUp);
				return;
			}
			case "error before":
				return send(response, errorAnswer({ code: "INTERNAL" }));
			case "error after":
				await answer();
				return send(response, errorAnswer({ code: "INTERNAL" }));
			case "proxy error":
				await answer();
				return send(response, { status: 502, body: "<html>" });
			case "restored":
				swaps.clear();
		}
		const { body, ...rest } = await answer();
		const isTruth = rest.status !== 200 || !knobs.lie;
		send(response, { ...rest, body: isTruth ? body : await knobs.lie?.(path, body as never) });
	}

	const server = createServer((incoming, response) => {
		handle(incoming, response).catch((error: unknown) => {
			// It is no failure if the caller disconnects before the response.
			if (!incoming.destroyed && !response.headersSent) send(response, { status: 599, body: String(error) });
		});
	});
	await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
	const { port } = server.address() as AddressInfo;
	const client: Client = createClient({ baseUrl: `http://127.0.0.1:${port}`, apiKey: "key-1" });

	return {
		client,
		knobs,
		requests,
		/** Returns the wallet's orders that were ever opened, one for each execution of its intent. */
		openedBy: (wallet: string) =>
			opened.filter((order) => walletOf(order).toLowerCase() === wallet.toLowerCase()),
		/** Responds to the next calls of this path with these refusals. */
		refuse: (path: Path, ...told: Refusal[]) => {
			refusals.set(path, [...(refusals.get(path) ?? []), ...told]);
		},
		clearRefusals: () => refusals.clear(),
		restore: () => swaps.clear(),
		/** Forgets all tokens, as if the keys that sealed them were gone. */
		forgetTokens: () => {
			quotes.clear();
			ops.clear();
		},
		countOf: (path: Path) => requests.filter((request) => request.path === path).length,
		/** Resolves once every late copy has arrived. */
		allArrived: async () => {
			while (late.size > 0) await Promise.all(late);
		},
		close: async () => {
			server.closeAllConnections();
			await new Promise((resolve) => server.close(resolve));
		},
	};
}

function originContracts() {
	const [chain] = evm.makePins().chains;
	if (!chain) throw new Error("two chains are pinned");
	return chain.contracts;
}

function walletOf({ originChainId, wallet }: Order): string {
	return formatAddress(originChainId, addressOfWord(originChainId, wallet));
}

function send(response: ServerResponse, { status, headers, body }: Answer): void {
	response.writeHead(status, { "content-type": "application/json", ...headers });
	response.end(typeof body === "string" ? body : JSON.stringify(body));
}

function errorAnswer({ code, next, retryAfterSeconds, details }: Refusal): Answer {
	const entry = errorCatalogue[code];
	return {
		status: entry.http,
		headers: retryAfterSeconds === undefined ? {} : { "retry-after": String(retryAfterSeconds) },
		body: {
			code,
			message: entry.message,
			next: next ?? entry.next,
			retryable: entry.retryable,
			requestId: "request-1",
			...(details && { details }),
		},
	};
}

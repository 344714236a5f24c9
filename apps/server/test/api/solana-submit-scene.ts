import { randomBytes, randomUUID } from "node:crypto";
import { startTestSolana } from "@geoswap/devnet";
import {
	type BuildSolanaResponse,
	newSwapUuid,
	type Order,
	orderToJson,
	packDeadlines,
	type SolanaAddress,
	type SubmitResponse,
	solanaChainId,
	solanaNativeToken,
	toSolanaWord,
	toSwapKey,
	toWord,
} from "@geoswap/protocol";
import { generateKeyPairSigner, type Instruction, type KeyPairSigner, signBytes } from "@solana/kit";
import { type Address, hexToBytes } from "viem";
import { expect } from "vitest";
import type { Route } from "../../src/api/http/route.ts";
import { postBuildSolanaTx } from "../../src/api/route/post-build-solana-tx.ts";
import { postSubmitSolana } from "../../src/api/route/post-submit-solana.ts";
import { sealToken } from "../../src/api/seal/seal-token.ts";
import type { SubmitDeps } from "../../src/api/submit/submit-route.ts";
import { connectSolana, type SolanaChain } from "../../src/chain/solana/connect-solana.ts";
import { readBlockhash } from "../../src/chain/solana/read/read-slots.ts";
import { readStatuses } from "../../src/chain/solana/read/read-statuses.ts";
import { sendRaw } from "../../src/chain/solana/send/send-raw.ts";
import { signInstructions } from "../../src/chain/solana/send/sign-instructions.ts";
import { solanaChain } from "../../src/config/chain-config.ts";
import { configSchema } from "../../src/config/config.ts";
import { joinDeployment } from "../../src/config/read-config.ts";
import { parseSealKeys, type SealPurpose } from "../../src/config/seal-keys.ts";
import type { SealedQuote } from "../../src/desk/sealed-quote.ts";
import type { PokeTarget } from "../../src/durable/engine.ts";
import { createTestDatabase } from "../service/test-database.ts";
import { startStubSolanaRpc } from "../solana/stub-solana-rpc.ts";
import { callRoute } from "./origin-scene.ts";

export type SolanaSubmitScene = Awaited<ReturnType<typeof startSolanaSubmitScene>>;

/** An EVM chain that receives swaps from Solana. It is never read. */
const destinationId = 31338;
const destinationToken: Address = "0x00000000000000000000000000000000000C0000";

/**
 * Starts a Solana chain, a database, a clock that can be put forward, and a desk and an engine that a test controls.
 */
export async function startSolanaSubmitScene() {
	const [solana, database] = await Promise.all([startTestSolana(), createTestDatabase({ as: "api" })]);
	const { deployment, admin, rpcUrl } = solana;
	const { pool, owner } = database;
	const chain = connectSolana({ rpcUrl, deployment });
	/** The same chain, at an address where no process listens. */
	const deadChain = connectSolana({ rpcUrl: "http://127.0.0.1:9", deployment });
	const sealKeys = parseSealKeys(`test:${randomBytes(32).toString("base64url")}`);
	const accountId: string = randomUUID();
	const clock = { aheadMs: 0 };
	const nowMs = () => Date.now() + clock.aheadMs;
	const file = configSchema.parse({
		deployment: "",
		chains: {},
		solana: {
			nodes: [{ url: rpcUrl }],
			openSeconds: 75,
			fillSeconds: 60,
			refundSeconds: 30,
			blockhashSeconds: { least: 20, most: 35 },
		},
		api: { port: 0 },
		worker: { port: 0 },
		restate: { ingressUrl: "http://127.0.0.1:1", adminUrl: "http://127.0.0.1:1" },
	});
	const config = joinDeployment("the scene", file, { chains: [], solana: deployment });
	const policy = solanaChain(config);
	if (!policy) throw new Error("the scene has Solana");

	let poked: string[] = [];
	const usual = () => ({
		isPriceGone: false,
		/** Current value of every input. */
		valueUsdCents: undefined as bigint | undefined,
		/** Reasons for which nothing is sold, by chain. */
		paused: new Map<number, string>(),
		unopenedUsdPerAccount: 1_000,
		/** Value of a unit of gas. */
		gasUsdCents: 0n,
		lamportsPerUsdCent: undefined as bigint | undefined,
		poke: async ({ object, key }: PokeTarget) => void poked.push(`${object} ${key}`),
	});
	const knobs = usual();
	const desk: SubmitDeps["desk"] = {
		isPriceable: () => true,
		valueUsdCents: () => knobs.valueUsdCents,
		gasUsdCents: ({ wei }) =>
			knobs.lamportsPerUsdCent === undefined ? wei * knobs.gasUsdCents : wei / knobs.lamportsPerUsdCent,
		gasWei: () => 0n,
		holdingLimit: () => undefined,
		reprice: ({ delivery }) => {
			if (knobs.isPriceGone || delivery.kind !== "inventory") return undefined;
			const { amount } = delivery;
			return {
				delivery,
				output: amount,
				chainId: destinationId,
				token: destinationToken,
				amount,
				volumes: [],
			};
		},
		volumes: () => [],
	};

	const routesOn = (served: SolanaChain | undefined) => ({
		build: postBuildSolanaTx({ solana: served, config, db: pool, sealKeys, nowMs }),
		submit: postSubmitSolana({
			solana: served,
			pool,
			sealKeys,
			desk,
			wantPrices: async () => {},
			engine: { poke: (target) => knobs.poke(target) },
			pauses: { reasonOf: (chainId) => knobs.paused.get(chainId) },
			config: { ...config, limits: { ...config.limits, unopenedUsdPerAccount: knobs.unopenedUsdPerAccount } },
			nowMs,
		}),
	});
	const buildRoute = (served = chain): Route => routesOn(served).build;
	const submitRoute = (served = chain): Route => routesOn(served).submit;
	const call = <Answer>(route: Route, body: unknown, as = accountId) =>
		callRoute(route, { body, accountId: as }) as Promise<Answer>;
	const seal = (
		payload: unknown,
		{ purpose = "quote:solana", to = accountId }: { purpose?: SealPurpose; to?: string } = {},
	) => sealToken(sealKeys, { purpose, accountId: to, payload });

	async function build(quote: SealedQuote, { authorization, route = buildRoute() }: BuildOptions = {}) {
		const geoQuoteToken = seal(quote);
		return call<BuildSolanaResponse>(route, { geoQuoteToken, authorization });
	}

	async function newWallet({
		token = deployment.settlementToken,
		amount = 10_000_000n,
	}: {
		token?: SolanaAddress;
		amount?: bigint;
	} = {}): Promise<KeyPairSigner> {
		const wallet = await generateKeyPairSigner();
		if (token === solanaNativeToken) await admin.airdrop({ address: wallet.address, lamports: amount });
		else await admin.mintTo({ owner: wallet.address, token, amount });
		return wallet;
	}

	/** Lands a transaction of the wallet. */
	async function send(wallet: KeyPairSigner, instructions: Instruction[]): Promise<void> {
		await admin.airdrop({ address: wallet.address, lamports: 10_000_000n });
		const { blockhash } = await readBlockhash(chain);
		const paid = { feePayer: wallet, blockhash, computePrice: 0n, unitLimit: 20_000 };
		const { signature, raw } = await signInstructions({ ...paid, instructions });
		await sendRaw(chain, raw);
		await expect
			.poll(async () => (await readStatuses(chain, [signature]))[0], { timeout: 15_000 })
			.toMatchObject({ isFailed: false });
	}

	/** Returns the chain behind a node whose simulation of every transaction fails with this error. */
	async function nodeThatSimulates(err: unknown): Promise<{ chain: SolanaChain; stop: () => Promise<void> }> {
		const node = await startStubSolanaRpc(() => ({
			result: { context: { slot: 1 }, value: { err, logs: [] } },
		}));
		const { rpc } = connectSolana({ rpcUrl: node.rpcUrl, deployment });
		const simulating = new Proxy(chain.rpc, {
			get: (real, method) => Reflect.get(method === "simulateTransaction" ? rpc : real, method),
		});
		return { chain: { ...chain, rpc: simulating }, stop: node.stop };
	}

	async function setInventory(amount: bigint): Promise<void> {
		await owner.query(
			`insert into inventory (chain_id, token, balance, outflow_available, block_number) values ($1, $2, $3, $3, 1)
			on conflict (chain_id, token) do update set balance = $3, outflow_available = $3, reserved = 0`,
			[destinationId, hexToBytes(destinationToken), amount],
		);
	}

	/** Lets this many of the program's attesters be alive. */
	async function setAttesters(count: number): Promise<void> {
		await owner.query("truncate heartbeats, chain_heads");
		for (const chainId of [solanaChainId, destinationId]) {
			await owner.query("insert into chain_heads values ($1, 100, '', 1000, 1, 90, 990, 0, 0)", [chainId]);
			for (const attester of deployment.program.attesterSet.attesters.slice(0, count)) {
				const heartbeat = [hexToBytes(attester), chainId, new Date()];
				await owner.query("insert into heartbeats values ($1, $2, 90, $3)", heartbeat);
			}
		}
	}

	return {
		solana,
		chain,
		deadChain,
		database,
		accountId,
		clock,
		nowMs,
		policy,
		knobs,
		poked: () => poked,
		buildRoute,
		submitRoute,
		/** The routes of a service without Solana. */
		routesWithoutSolana: () => routesOn(undefined),
		routesOn,
		send,
		nodeThatSimulates,
		call,
		seal,
		build,
		newWallet,
		setInventory,
		setAttesters,
		newQuote: (wallet: SolanaAddress, options: SolanaQuoteOptions = {}) =>
			newQuote({ deployment, wallet, nowMs: nowMs(), ...options }),
		signedTransaction: async (
			wallet: KeyPairSigner,
			quote = newQuote({ ...solana, wallet: wallet.address, nowMs: nowMs() }),
		) => {
			const built = await build(quote);
			return { quote, built, signed: await signTransaction(wallet, built.unsignedTransaction) };
		},
		submit: (
			{ geoOpToken }: BuildSolanaResponse,
			signedTransaction: string,
			{ as, route = submitRoute() }: { as?: string; route?: Route } = {},
		) => call<SubmitResponse>(route, { geoOpToken, signedTransaction }, as),
		swapCount: async (): Promise<number> => {
			const { rows } = await owner.query("select count(*) as count from swaps");
			return rows[0].count;
		},
		/** Removes all swaps, refills the inventory, and makes everything work again. */
		reset: async () => {
			clock.aheadMs = 0;
			poked = [];
			Object.assign(knobs, usual());
			await owner.query("truncate swaps, swap_events, reservations, unsettled_gas");
			await setInventory(10n ** 12n);
			await setAttesters(deployment.program.attesterSet.attesters.length);
		},
		stop: async () => {
			await Promise.all([solana.stop(), database.drop()]);
		},
	};
}

type BuildOptions = { authorization?: unknown; route?: Route };

/** Puts the wallet's signature, the second of two, into a transaction. */
export async function signTransaction(wallet: KeyPairSigner, unsigned: string): Promise<string> {
	const bytes = Buffer.from(unsigned, "base64");
	const message = bytes.subarray(1 + 2 * 64);
	bytes.set(await signBytes(wallet.keyPair.privateKey, message), 1 + 64);
	return bytes.toString("base64");
}

export type SolanaQuoteOptions = {
	inputToken?: SolanaAddress;
	inputAmount?: bigint;
	change?: Partial<Order>;
};

/** Returns a quote as the desk seals it, for a new wallet's whole balance. */
function newQuote({
	deployment,
	wallet,
	nowMs,
	inputToken = deployment.settlementToken,
	inputAmount = 10_000_000n,
	change = {},
}: SolanaQuoteOptions & {
	deployment: Awaited<ReturnType<typeof startTestSolana>>["deployment"];
	wallet: SolanaAddress;
	nowMs: number;
}): SealedQuote & { terms: Order } {
	const uuid = newSwapUuid({ nowMs, random: randomBytes(10) });
	const openDeadline = BigInt(Math.floor(nowMs / 1_000) + 75);
	const terms: Order = {
		originChainId: BigInt(solanaChainId),
		destinationChainId: BigInt(destinationId),
		escrow: toSolanaWord(deployment.program.address),
		originVault: toSolanaWord(deployment.program.vault),
		destinationVault: toWord("0x00000000000000000000000000000000000A0000"),
		attesterSet: deployment.program.attesterSet.hash,
		wallet: toSolanaWord(wallet),
		inputToken: toSolanaWord(inputToken),
		inputAmount,
		outputToken: toWord(destinationToken),
		minOutput: 9_900_000n,
		recipient: toWord("0x00000000000000000000000000000000000B0000"),
		topUp: 0n,
		swapKey: toSwapKey(uuid),
		deadlines: packDeadlines({
			openDeadline,
			fillDeadline: openDeadline + 60n,
			refundAfter: openDeadline + 90n,
		}),
		...change,
	};
	return {
		uuid,
		terms,
		order: orderToJson(terms),
		output: 9_950_000n,
		delivery: { kind: "inventory", amount: 9_950_000n },
		feeMillibps: 12_500,
		networkCost: 0n,
		valueUsdCents: 1_000n,
		issuedAtMs: nowMs,
		expiresAtMs: nowMs + 30_000,
		opExpiresAtMs: nowMs + 45_000,
	};
}

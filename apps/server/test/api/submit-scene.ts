import {
	type BuildResponse,
	type ChainDeployment,
	fromWord,
	geoEscrowAbi,
	orderProof,
	orderTerms,
	type SignatureKind,
	type SubmitResponse,
} from "@geoswap/protocol";
import {
	encodeFunctionData,
	type Hex,
	hexToBytes,
	type PrivateKeyAccount,
	type SignedAuthorization,
} from "viem";
import type { Route } from "../../src/api/http/route.ts";
import { createDelegatedWallets } from "../../src/api/origin/delegated-wallets.ts";
import { postBuildGeoOp } from "../../src/api/route/post-build-geo-op.ts";
import { postSubmit } from "../../src/api/route/post-submit.ts";
import type { SubmitDeps } from "../../src/api/submit/submit-route.ts";
import type { EvmChain } from "../../src/chain/evm/connect-chain.ts";
import type { SolanaChain } from "../../src/chain/solana/connect-solana.ts";
import { createDenyList } from "../../src/deny/deny-list.ts";
import type { SealedQuote } from "../../src/desk/sealed-quote.ts";
import type { PokeTarget } from "../../src/durable/engine.ts";
import { testConfig } from "../desk/test-prices.ts";
import { callRoute, startOriginScene } from "./origin-scene.ts";

export type SubmitScene = Awaited<ReturnType<typeof startSubmitScene>>;

/** Starts an origin scene with a desk and an engine that a test controls. */
export async function startSubmitScene() {
	const scene = await startOriginScene();
	const { chains, database, sealKeys, nowMs, testChains } = scene;
	const config = testConfig(testChains);
	let poked: string[] = [];
	/** Fee of each repricing, in thousandths of a basis point. */
	const repricedFees: number[] = [];
	const usual = () => ({
		isPriceGone: false,
		/** Current value of every input. */
		valueUsdCents: undefined as bigint | undefined,
		/** Reasons for which nothing is sold, by chain. */
		paused: new Map<number, string>(),
		unopenedUsdPerAccount: 1_000,
		/** Value of the smallest unit of fees. */
		gasUsdCents: 0n,
		/** Price of a unit of gas. */
		feePerGas: 0n,
		unsettledGasUsdPerDay: 50,
		unopenedSwaps: { perWallet: 20, perAccount: 500 },
		/** Limit of the key that submits. */
		maxUsdPerDay: undefined as number | undefined,
		/** Caps of each chain. Deposits of up to a million dollars need not be final. */
		unreleasedCapUsd: 1_000_000,
		unfinalCapUsd: 250_000,
		/** Contracts that took the place of those of the test's chains, by chain. */
		replaced: new Map<number, Partial<ChainDeployment["contracts"]>>(),
		/** Amount of the input that the vault accepts. */
		exposure: undefined as bigint | undefined,
		/** What the deny list answers about addresses in lower case. It serves all others. */
		denied: new Map<string, boolean | undefined>(),
		/** Called when prices of these chains are requested. */
		wantPrices: async (_chainIds: readonly number[]) => {},
		poke: async ({ object, key }: PokeTarget) => void poked.push(`${object} ${key}`),
	});
	const knobs = usual();

	/** Delivers USDC from inventory as quoted, or nothing once the price is gone. */
	const desk: SubmitDeps["desk"] = {
		isPriceable: () => true,
		valueUsdCents: () => knobs.valueUsdCents,
		gasUsdCents: ({ wei }) => wei * knobs.gasUsdCents,
		gasWei: ({ gas }) => gas * knobs.feePerGas,
		holdingLimit: ({ originChainId, inputToken }) =>
			knobs.exposure === undefined
				? undefined
				: { chainId: Number(originChainId), token: fromWord(inputToken), amount: knobs.exposure },
		reprice: ({ delivery, feeMillibps }) => {
			repricedFees.push(feeMillibps);
			if (knobs.isPriceGone || delivery.kind !== "inventory") return undefined;
			const { chainId, deployment } = testChains.destination;
			const { amount } = delivery;
			return { delivery, output: amount, chainId, token: deployment.settlementToken, amount, volumes: [] };
		},
		volumes: () => [],
	};
	const buildRoute = postBuildGeoOp({
		chains,
		delegated: createDelegatedWallets(),
		db: database.pool,
		sealKeys,
		nowMs,
	});
	const submitRoute = (
		served: ReadonlyMap<number, EvmChain> = chains,
		solana: SolanaChain | undefined = undefined,
	): Route =>
		postSubmit({
			chains: served,
			solana,
			pool: database.pool,
			sealKeys,
			desk,
			wantPrices: (chainIds) => knobs.wantPrices(chainIds),
			denyList: createDenyList({
				isDenied: (address) => (knobs.denied.has(address) ? knobs.denied.get(address) : false),
				close: async () => {},
			}),
			engine: { poke: (target) => knobs.poke(target) },
			pauses: { reasonOf: (chainId) => knobs.paused.get(chainId) },
			config: {
				...config,
				chains: config.chains.map((configured) => {
					const { unreleasedCapUsd, unfinalCapUsd, replaced } = knobs;
					const chain = { ...configured, unreleasedCapUsd, unfinalCapUsd };
					if (chain.kind === "solana") return chain;
					const contracts = { ...chain.deployment.contracts, ...replaced.get(chain.chainId) };
					return { ...chain, deployment: { ...chain.deployment, contracts } };
				}),
				limits: {
					...config.limits,
					unopenedUsdPerAccount: knobs.unopenedUsdPerAccount,
					unsettledGasUsdPerDay: knobs.unsettledGasUsdPerDay,
					unopenedSwaps: knobs.unopenedSwaps,
				},
			},
			nowMs,
		});

	async function build(quote: SealedQuote, authorization?: unknown): Promise<BuildResponse> {
		const geoQuoteToken = scene.seal(quote);
		return scene.call<BuildResponse>(buildRoute, { geoQuoteToken, authorization });
	}

	async function setInventory(amount: bigint): Promise<void> {
		const { chainId, deployment } = testChains.destination;
		await database.owner.query(
			`insert into inventory (chain_id, token, balance, outflow_available, block_number) values ($1, $2, $3, $3, 1)
			on conflict (chain_id, token) do update set balance = $3, outflow_available = $3, reserved = 0`,
			[chainId, hexToBytes(deployment.settlementToken), amount],
		);
	}

	/** Makes this many attesters alive, on both chains. */
	async function setAttesters(count: number): Promise<void> {
		await database.owner.query("truncate heartbeats, chain_heads");
		for (const { chainId, deployment } of [testChains.origin, testChains.destination]) {
			await database.owner.query("insert into chain_heads values ($1, 100, '', 1000, 1, 90, 990, 0, 0)", [
				chainId,
			]);
			for (const attester of deployment.attesterSet.attesters.slice(0, count)) {
				await database.owner.query("insert into heartbeats values ($1, $2, 90, $3)", [
					hexToBytes(attester),
					chainId,
					new Date(),
				]);
			}
		}
	}

	/** Adds another chain to the heartbeats of the attesters that are alive. */
	async function seeAttestersOn(chainId: number): Promise<void> {
		await database.owner.query("insert into chain_heads values ($1, 100, '', 1000, 1, 90, 990, 0, 0)", [
			chainId,
		]);
		await database.owner.query(
			"insert into heartbeats select attester, $1::bigint, 90, min(signed_at) from heartbeats group by attester",
			[chainId],
		);
	}

	return {
		...scene,
		knobs,
		seeAttestersOn,
		setAttesters,
		/** Returns the objects that were poked. */
		poked: () => poked,
		repricedFees,
		build,
		setInventory,
		submitRoute,
		submit: (
			{ geoOpToken }: BuildResponse,
			signature: string,
			{
				as = scene.accountId,
				route = submitRoute(),
				signatureKind,
			}: { as?: string; route?: Route; signatureKind?: SignatureKind } = {},
		) =>
			callRoute(route, {
				accountId: as,
				limits: { maxUsdPerDay: knobs.maxUsdPerDay },
				body: { geoOpToken, signature, signatureKind },
			}) as Promise<SubmitResponse>,
		signedOp: async (
			wallet: PrivateKeyAccount,
			authorization?: unknown,
			quote = scene.newQuote(wallet.address),
		) => {
			const built = await build(quote, authorization);
			const signature = await wallet.signMessage({ message: { raw: built.geoOpHash as Hex } });
			return { quote, built, signature };
		},
		/** Opens the order as any holder of its signature could. */
		land: async (
			signature: Hex,
			{
				quote,
				authorization,
			}: { quote: ReturnType<typeof scene.newQuote>; authorization?: SignedAuthorization },
		) => {
			const order = quote.terms;
			const proof = orderProof({ kind: "personal", signature });
			await scene.send(scene.relayer, {
				to: fromWord(order.escrow),
				data: encodeFunctionData({
					abi: geoEscrowAbi,
					functionName: "openFor",
					args: [fromWord(order.wallet), orderTerms(order), proof],
				}),
				...(authorization && { authorizationList: [authorization] }),
			});
		},
		swapCount: async (): Promise<number> => {
			const { rows } = await database.owner.query("select count(*) as count from swaps");
			return rows[0].count;
		},
		/** Removes all swaps, refills the inventory and makes everything work again. */
		reset: async () => {
			scene.clock.aheadMs = 0;
			poked = [];
			Object.assign(knobs, usual());
			await database.owner.query("truncate swaps, swap_events, reservations, exposures, unsettled_gas");
			await setInventory(10n ** 12n);
			await setAttesters(2);
		},
	};
}

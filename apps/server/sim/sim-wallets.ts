import {
	isSolana,
	type Order,
	orderId,
	orderTransaction,
	orderUserOp,
	type SolanaAddress,
	type SwapUuid,
	solanaNativeToken,
} from "@geoswap/protocol";
import { type KeyPairSigner, signBytes } from "@solana/kit";
import { type Address, bytesToHex, getAddress, type Hex, type PrivateKeyAccount, zeroAddress } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import type { Config } from "../src/config.ts";
import type { Engine } from "../src/durable/durable.ts";
import type { DatabasePool } from "../src/store/database.ts";
import { submitSwap } from "../src/store/submit-swap.ts";
import type { SignedOp, SignedSolanaOp } from "../src/store/swap-record.ts";
import { attestersWanted } from "../src/swap/swap-policy.ts";
import { solanaTransactions } from "../src/venue/network-cost.ts";
import type { Desk, DeskQuote } from "../src/venue/venue.ts";
import type { SimEvmChain } from "./evm/create-sim-evm-chain.ts";
import { blockedCode } from "./evm/sim-token.ts";
import type { AssetName, ChainName, SwapPlan } from "./plan.ts";
import type { Scheduler } from "./scheduler.ts";
import type { SeededRandom } from "./seeded-random.ts";
import { createMisbehaviour } from "./sim-misbehaviour.ts";
import { usdE18Of } from "./sim-prices.ts";
import type { SimSolanaChain } from "./solana/create-sim-solana-chain.ts";

/** One swap of the plan, and all that an outsider knows of it. */
export type SimSwap = {
	index: number;
	plan: SwapPlan;
	/** As its chain writes it. */
	wallet: string;
	recipient: string;
	inputToken: string;
	outputToken: string;
	inputAmount: bigint;
	uuid?: SwapUuid;
	orderId?: Hex;
	order?: Order;
	op?: SignedOp | SignedSolanaOp;
	/** When its submit was answered. */
	submittedAtMs?: number;
	outcome: "not-yet" | "submitted" | "refused" | "unsubmitted";
	/** Its row was written after the backup to which the database was set back. */
	isLost?: boolean;
	/** Where the wallet sends its tokens behind the service's back, if it does. */
	sink?: Address;
};

export type SimWallets = {
	swaps: SimSwap[];
	/** Quotes, signs and submits, as the plan says. */
	begin: (plan: SwapPlan, index: number) => Promise<void>;
};

/** The chains here have no pools: on an EVM chain the settlement token alone is delivered. */
function withoutRouter(plan: SwapPlan): SwapPlan {
	if (plan.to === "solana" || plan.output === "stable") return plan;
	const input = plan.from === plan.to && plan.input === "stable" ? plan.output : plan.input;
	return { ...plan, input, output: "stable" };
}

type Asset = { address: string; symbol: string; decimals: number; kind: "stable" | "volatile" };

const tries = 6;
const againMs = 5_000;
/** In which an authorization that someone else sends is used up. */
const usedUpMs = 9_000;
const accountId = "00000000-0000-4000-8000-000000000001";

export function createSimWallets({
	evm,
	solana,
	config,
	desk,
	pool,
	engine,
	scheduler,
	random,
	tell,
}: {
	evm: Readonly<Record<"east" | "west", SimEvmChain>>;
	solana: SimSolanaChain;
	config: Config;
	desk: Desk;
	pool: DatabasePool;
	engine: Engine;
	scheduler: Scheduler;
	random: SeededRandom;
	tell: (line: string) => void;
}): SimWallets {
	const swaps: SimSwap[] = [];
	const evmWallets = new Map<string, PrivateKeyAccount>();
	const solanaWallets = new Map<string, KeyPairSigner>();
	const keys = random.fork("wallets");
	const misbehave = createMisbehaviour({ scheduler, random: random.fork("misbehaviour"), tell });
	const recipients = random.fork("recipients");

	const evmWallet = (name: string): PrivateKeyAccount => {
		const wallet = evmWallets.get(name) ?? privateKeyToAccount(bytesToHex(keys.bytes(32)));
		evmWallets.set(name, wallet);
		return wallet;
	};
	const solanaWallet = async (name: string): Promise<KeyPairSigner> => {
		const wallet = solanaWallets.get(name) ?? (await solana.newWallet());
		solanaWallets.set(name, wallet);
		return wallet;
	};
	const chainIdOf = (name: ChainName) => (name === "solana" ? solana.chainId : evm[name].chainId);
	const assetOf = (chain: ChainName, name: AssetName): Asset => {
		const { assets, settlementToken } = chain === "solana" ? solana.deployment : evm[chain].deployment;
		const native = chain === "solana" ? solanaNativeToken : zeroAddress;
		const asset = (assets as readonly Asset[]).find(({ address, kind }) => {
			if (name === "stable") return address === settlementToken;
			if (name === "native" || chain === "solana") return address === native;
			return address !== native && kind === "volatile";
		});
		if (!asset) throw new Error(`${chain} has no ${name} asset`);
		return asset;
	};
	const give = (chain: ChainName, token: string, holder: string, amount: bigint) =>
		chain === "solana"
			? solana.give(token as SolanaAddress, holder as SolanaAddress, amount)
			: evm[chain].give(token as Address, holder as Address, amount);

	async function newRecipient(chain: ChainName): Promise<string> {
		if (chain !== "solana") return getAddress(bytesToHex(recipients.bytes(20)));
		return (await solana.newWallet()).address;
	}

	async function begin(given: SwapPlan, index: number): Promise<void> {
		const plan = withoutRouter(given);
		const isShared = plan.behaviour === "plain" || plan.from === "solana";
		const name = isShared ? `${plan.from} ${plan.wallet}` : `${plan.from} of #${index}`;
		const wallet = plan.from === "solana" ? (await solanaWallet(name)).address : evmWallet(name).address;
		const input = assetOf(plan.from, plan.input);
		const output = assetOf(plan.to, plan.output);
		const cents = BigInt(plan.usdCents) * 10n ** 16n * 10n ** BigInt(input.decimals);
		const inputAmount = cents / usdE18Of(input.symbol, input, 0) + BigInt(plan.oddUnits);
		const swap: SimSwap = {
			index,
			plan,
			wallet,
			recipient: await newRecipient(plan.to),
			inputToken: input.address,
			outputToken: output.address,
			inputAmount,
			outcome: "not-yet",
		};
		swaps.push(swap);
		give(plan.from, input.address, wallet, inputAmount);
		if (plan.recipient === "refuses" && plan.to !== "solana") {
			evm[plan.to].placeCode(swap.recipient as Address, blockedCode);
		}
		for (let attempt = 1; ; attempt++) {
			const refusal = await attemptSwap(swap, name).catch((error: unknown) => String(error).split("\n")[0]);
			if (refusal === undefined) return;
			tell(`#${index} is refused: ${refusal}`);
			if (attempt === tries) break;
			await scheduler.sleep(againMs, `#${index} tries again`);
		}
		swap.outcome = "refused";
	}

	/** Says why it was refused. */
	async function attemptSwap(swap: SimSwap, walletName: string): Promise<string | undefined> {
		const { plan, index } = swap;
		const quote = desk.quote({
			originChain: chainIdOf(plan.from),
			destinationChain: chainIdOf(plan.to),
			inputToken: swap.inputToken,
			outputToken: swap.outputToken,
			amount: swap.inputAmount,
			walletAddress: swap.wallet,
			recipient: swap.recipient,
		} as Parameters<Desk["quote"]>[0]);
		const op = await signOp(quote, walletName);
		// What is signed once may be sent by anyone: from now on this is the swap.
		Object.assign(swap, { uuid: quote.uuid, orderId: orderId(quote.order), order: quote.order, op });
		if (plan.behaviour === "opens-unsubmitted" && plan.from !== "solana") {
			swap.outcome = "unsubmitted";
			misbehave(swap, { wallet: evmWallet(walletName), chain: evm[plan.from] });
			return undefined;
		}
		if (plan.behaviour === "stale-authorization" && plan.from !== "solana") {
			misbehave(swap, { wallet: evmWallet(walletName), chain: evm[plan.from] });
			await scheduler.sleep(usedUpMs, `#${index} submits late`);
		}
		const { order } = quote;
		const isAttested = order.originChainId !== order.destinationChainId && !isSolana(order.originChainId);
		const { limits } = config;
		const result = await submitSwap(pool, {
			swap: {
				id: quote.uuid,
				accountId,
				order,
				output: quote.output,
				valueUsdCents: quote.valueUsdCents,
				feeCentibps: quote.feeCentibps,
				delivery: quote.delivery,
				op,
			},
			pairs: desk.volumes(quote),
			reserve: (inFlight) => desk.reprice(quote, inFlight),
			isOpened: false,
			limits: {
				unopenedUsdCents: BigInt(limits.unopenedUsdPerAccount * 100),
				reservationSeconds: limits.reservationSeconds,
			},
			exposure: desk.isPriceable(order) ? desk.exposureLimit(order) : undefined,
			attesters: isAttested ? attestersWanted(config, order) : undefined,
			nowMs: scheduler.nowMs(),
		});
		if (result.outcome !== "created" && result.outcome !== "existing") return result.outcome;
		swap.outcome = "submitted";
		swap.submittedAtMs = scheduler.nowMs();
		tell(
			`#${index} is submitted, ${plan.from} ${plan.input} to ${plan.to} ${plan.output}, ${plan.behaviour}`,
		);
		void engine.startSwap(quote.uuid);
		if (plan.from !== "solana" && plan.behaviour !== "stale-authorization") {
			misbehave(swap, { wallet: evmWallet(walletName), chain: evm[plan.from] });
		}
		return undefined;
	}

	async function signOp(quote: DeskQuote, walletName: string): Promise<SignedOp | SignedSolanaOp> {
		const { order, uuid } = quote;
		if (isSolana(order.originChainId)) {
			const wallet = await solanaWallet(walletName);
			const { value } = solana.request("getLatestBlockhash", [{ commitment: "confirmed" }]) as {
				value: { blockhash: string; lastValidBlockHeight: number | bigint };
			};
			const { feePayers } = solana.deployment;
			const feePayer = feePayers[Number.parseInt(uuid.slice(-8), 16) % feePayers.length] as SolanaAddress;
			const parts = {
				feePayer,
				blockhash: value.blockhash,
				compute: {
					unitLimit: Number(solanaTransactions.open.units),
					microLamportsPerUnit: BigInt(config.solana?.computePriceMicroLamports ?? 0),
				},
			};
			const { message } = await orderTransaction(solana.deployment, order, parts);
			const signature = bytesToHex(new Uint8Array(await signBytes(wallet.keyPair.privateKey, message)));
			return {
				kind: "solana",
				...parts,
				lastValidBlockHeight: BigInt(value.lastValidBlockHeight),
				signature,
			};
		}
		const wallet = evmWallet(walletName);
		const chain = evmChainOf(Number(order.originChainId));
		const delegate = chain.deployment.contracts.delegate;
		const gas = { verificationGasLimit: 80_000n, callGasLimit: 300_000n };
		const op = { delegate, allowance: 0n, gas };
		const signature = await wallet.signMessage({ message: { raw: orderUserOp({ order, ...op }).hash } });
		if (chain.request("eth_getCode", [wallet.address, "latest"]) !== "0x") return { ...op, signature };
		const nonce = Number(chain.request("eth_getTransactionCount", [wallet.address, "latest"]));
		const { chainId } = chain;
		const signed = await wallet.signAuthorization({ address: delegate, chainId, nonce });
		const { r, s, yParity } = signed;
		return {
			...op,
			signature,
			authorization: { chainId, address: delegate, nonce, yParity: yParity ?? 0, r, s },
		};
	}

	function evmChainOf(chainId: number): SimEvmChain {
		const chain = Object.values(evm).find((candidate) => candidate.chainId === chainId);
		if (!chain) throw new Error(`chain ${chainId} is not of the world`);
		return chain;
	}

	return { swaps, begin };
}

import {
	isSolana,
	type Order,
	openTransaction,
	orderDigest,
	orderId,
	orderTypedData,
	type SignatureKind,
	type SolanaAddress,
	solanaNativeToken,
} from "@geoswap/protocol";
import { type KeyPairSigner, signBytes } from "@solana/kit";
import { type Address, bytesToHex, getAddress, type PrivateKeyAccount, zeroAddress } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { adoptSwap } from "../src/api/submit/adopt-swap.ts";
import { type SubmitOutcome, submitSwap } from "../src/api/submit/submit-swap.ts";
import type { EvmChain } from "../src/chain/evm/connect-chain.ts";
import { readWasOpened } from "../src/chain/evm/read/read-deposit.ts";
import type { SolanaChain } from "../src/chain/solana/connect-solana.ts";
import { wasOpened } from "../src/chain/solana/program/was-opened.ts";
import { readHeight } from "../src/chain/solana/read/read-slots.ts";
import { solanaChain } from "../src/config/chain-config.ts";
import type { Config } from "../src/config/config.ts";
import type { DatabasePool } from "../src/database/database.ts";
import type { Desk, DeskQuote } from "../src/desk/desk.ts";
import { solanaTransactions } from "../src/desk/network-cost.ts";
import type { Engine } from "../src/durable/engine.ts";
import { attestersWanted, unopenedLimits } from "../src/swap/decide/swap-policy.ts";
import type { SignedOp, SignedSolanaOp } from "../src/swap/facts/swap-record.ts";
import { readSwap } from "../src/swap/record/read-swap.ts";
import type { SimEvmChain } from "./evm/create-sim-evm-chain.ts";
import { blockedCode } from "./evm/place-contracts.ts";
import type { AssetName, ChainName, SwapPlan } from "./plan.ts";
import type { Scheduler } from "./scheduler.ts";
import type { SeededRandom } from "./seeded-random.ts";
import { createMisbehaviour } from "./sim-misbehaviour.ts";
import { usdE18Of } from "./sim-prices.ts";
import { createSolanaMisbehaviour, solanaMisbehaviours } from "./sim-solana-misbehaviour.ts";
import type { SimSwap } from "./sim-swap.ts";
import type { SimSolanaChain } from "./solana/create-sim-solana-chain.ts";

export type SimWallets = {
	swaps: SimSwap[];
	/** Quotes, signs and submits according to the plan. */
	begin: (plan: SwapPlan, index: number) => Promise<void>;
	/**
	 * Called when the service came back with an old backup. Callers query their swaps, and resubmit those that are
	 * missing, as the API's response requires. Not all do. Opened orders of the others are rebuilt without them.
	 */
	comeBack: () => void;
	/** Returns true while a caller is about to resubmit, or a wallet waits until it may take its input back. */
	isBusy: () => boolean;
};

/**
 * Returns the plan with an output that can be delivered, because EVM chains here have no pools, and deliver the
 * settlement token only.
 */
function withoutRouter(plan: SwapPlan): SwapPlan {
	if (plan.to === "solana" || plan.output === "stable") return plan;
	const input = plan.from === plan.to && plan.input === "stable" ? plan.output : plan.input;
	return { ...plan, input, output: "stable" };
}

type Asset = { address: string; symbol: string; decimals: number; kind: "stable" | "volatile" };

/** One swap of this many also brings its recipient native token for gas. */
const toppedUpEvery = 3;
const topUpUsd = "0.25";
const tries = 6;
const againMs = 5_000;
/** Milliseconds within which an authorization that another account sends is used up. */
const usedUpMs = 9_000;
/** Delay after which callers query their swaps, once the service is back. */
const asksAfterMs = { least: 3_000, most: 20_000 };
const resubmitChance = 0.5;
/** One wallet of this many delegates to the account that accepts typed data only. */
const typedOnlyEvery = 3;
/** Chance that a wallet which may sign either way signs typed data. */
const typedChance = 0.5;
/** The gas limit of an order, about what the API's build computes from a simulation. */
const openGasLimit = 200_000n;
const accountId = "00000000-0000-4000-8000-000000000001";

export function createSimWallets({
	evm,
	solana,
	reached,
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
	/** The chains as the API reaches them. */
	reached: { chains: readonly EvmChain[]; solana: SolanaChain };
	config: Config;
	desk: Desk;
	pool: DatabasePool;
	engine: Engine;
	scheduler: Scheduler;
	random: SeededRandom;
	tell: (line: string) => void;
}): SimWallets {
	const swaps: SimSwap[] = [];
	/** Callers that are about to resubmit, and wallets that wait for their input. */
	let busy = 0;
	const evmWallets = new Map<string, PrivateKeyAccount>();
	const solanaWallets = new Map<string, KeyPairSigner>();
	const keys = random.fork("wallets");
	const misbehaveOnEvm = createMisbehaviour({ scheduler, random: random.fork("misbehaviour"), tell });
	const misbehaveOnSolana = createSolanaMisbehaviour({
		scheduler,
		random: random.fork("misbehaviour on Solana"),
		solana,
		tell,
	});
	const recipients = random.fork("recipients");
	const signing = random.fork("signing");

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

	function misbehave(swap: SimSwap, walletName: string): void {
		const { from } = swap.plan;
		if (from !== "solana") {
			misbehaveOnEvm(swap, { wallet: evmWallet(walletName), chain: evm[from] });
			return;
		}
		busy++;
		void solanaWallet(walletName)
			.then((wallet) => misbehaveOnSolana(swap, wallet))
			.finally(() => {
				busy--;
			});
	}

	async function begin(given: SwapPlan, index: number): Promise<void> {
		const plan = withoutRouter(given);
		const isShared =
			plan.behaviour === "plain" || (plan.from === "solana" && !solanaMisbehaviours.has(plan.behaviour));
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

	/** Returns the reason if it was refused. */
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
			...(index % toppedUpEvery === 0 && { topUpUsd }),
		} as Parameters<Desk["quote"]>[0]);
		const op = await signOp(quote, walletName);
		// Anyone may send a signed op, so from now on this is the swap.
		const { opExpiresAtMs, order, uuid } = quote;
		const blockhashMs = (solanaChain(config)?.blockhashSeconds.least ?? 0) * 1_000;
		const expiresAtMs =
			plan.from === "solana" ? Math.min(scheduler.nowMs() + blockhashMs, opExpiresAtMs) : opExpiresAtMs;
		Object.assign(swap, { uuid, orderId: orderId(order), order, op, quote, expiresAtMs });
		if (plan.behaviour === "opens-unsubmitted") {
			swap.outcome = "unsubmitted";
			misbehave(swap, walletName);
			return undefined;
		}
		if (plan.behaviour === "stale-authorization" && plan.from !== "solana") {
			misbehave(swap, walletName);
			await scheduler.sleep(usedUpMs, `#${index} submits late`);
		}
		const result = await submit(swap, { isOpened: false });
		if (result.outcome !== "created" && result.outcome !== "existing") return result.outcome;
		swap.outcome = "submitted";
		swap.submittedAtMs = scheduler.nowMs();
		tell(
			`#${index} is submitted, ${plan.from} ${plan.input} to ${plan.to} ${plan.output}, ${plan.behaviour}`,
		);
		void engine.poke({ object: "round", key: "0" });
		if (plan.from === "solana" || plan.behaviour !== "stale-authorization") misbehave(swap, walletName);
		return undefined;
	}

	function submit(swap: SimSwap, { isOpened }: { isOpened: boolean }): Promise<SubmitOutcome> {
		const { quote, op } = swap;
		if (!quote || !op) throw new Error("what is not signed cannot be submitted");
		const { order, uuid, output, valueUsdCents, feeMillibps, skewCentibps, delivery } = quote;
		const isAttested = order.originChainId !== order.destinationChainId;
		return submitSwap(pool, {
			swap: { id: uuid, accountId, order, output, valueUsdCents, feeMillibps, skewCentibps, delivery, op },
			pairs: desk.volumes(quote),
			reserve: (inFlight) => desk.reprice(quote, inFlight),
			isOpened,
			// Nothing to check, because callers stay within their limits, and the wallets were read as they are.
			admit: () => {},
			countedOrders: [],
			limits: { ...unopenedLimits(config), reservationSeconds: config.limits.reservationSeconds },
			holdingLimit: desk.isPriceable(order) ? desk.holdingLimit(order) : undefined,
			attesters: isAttested ? attestersWanted(config, order) : undefined,
			nowMs: scheduler.nowMs,
		});
	}

	const evmCallers = random.fork("callers");
	const solanaCallers = random.fork("callers on Solana");
	function comeBack(): void {
		for (const swap of swaps) {
			const callers = swap.plan.from === "solana" ? solanaCallers : evmCallers;
			if (!callers.chance(resubmitChance)) continue;
			busy++;
			const asksMs = callers.between(asksAfterMs.least, asksAfterMs.most);
			scheduler.in(asksMs, `#${swap.index} asks`, () => {
				void askAgain(swap).finally(() => {
					busy--;
				});
			});
		}
	}

	/** Resubmits until the swap is stored or has expired. */
	async function askAgain(swap: SimSwap): Promise<void> {
		while (swap.outcome === "submitted") {
			const refusal = await submitAgain(swap).catch((error: unknown) => String(error).split("\n")[0]);
			if (refusal === undefined) return;
			tell(`#${swap.index} is refused: ${refusal}`);
			await scheduler.sleep(againMs, `#${swap.index} asks again`);
		}
	}

	/**
	 * Does what the API's submit does with an op token that was submitted before. Returns the reason if it was refused.
	 */
	async function submitAgain(swap: SimSwap): Promise<string | undefined> {
		const { index, uuid, order, plan, op, expiresAtMs = 0 } = swap;
		if (!uuid || !order) throw new Error("what was submitted has an order");
		const existing = await readSwap(pool, uuid);
		if (existing) {
			if (existing.accountId === undefined) await adoptSwap(pool, { id: uuid, accountId });
			return undefined;
		}
		const isOld = plan.from === "solana" || scheduler.nowMs() > expiresAtMs;
		const isUndecided = op && "kind" in op && (await mayLand(op));
		const wasOpened = await wasOpenedBefore(swap, order, op);
		if (isUndecided && !wasOpened) return "it may still be executed";
		if (isOld && !wasOpened) {
			tell(`#${index} has expired, and nothing was executed`);
			swap.outcome = "expired";
			return undefined;
		}
		const result = await submit(swap, { isOpened: wasOpened });
		if (result.outcome !== "created" && result.outcome !== "existing") return result.outcome;
		swap.isLost = true;
		tell(`#${index} is submitted again`);
		if (result.outcome === "existing") return undefined;
		void engine.poke({ object: "round", key: "0" });
		return undefined;
	}

	const mayLand = async ({ lastValidBlockHeight }: SignedSolanaOp) =>
		(await readHeight(reached.solana, "finalized")) <= lastValidBlockHeight;

	async function wasOpenedBefore(
		{ plan }: SimSwap,
		order: Order,
		op: SignedOp | SignedSolanaOp | undefined,
	): Promise<boolean> {
		if (plan.from === "solana") {
			const lastValidHeight = op && "kind" in op ? Number(op.lastValidBlockHeight) : 0;
			const found = await wasOpened(reached.solana, { orderId: orderId(order), lastValidHeight });
			if (found === "untold") throw new Error("the account of the order is closed");
			return found === "opened";
		}
		const chain = reached.chains.find(({ chainId }) => BigInt(chainId) === order.originChainId);
		if (!chain) throw new Error(`chain ${order.originChainId} is not of the world`);
		return readWasOpened(chain, order);
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
					microLamportsPerUnit: BigInt(solanaChain(config)?.computePriceMicroLamports ?? 0),
				},
			};
			const { message } = await openTransaction(solana.deployment, order, parts);
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
		const { delegate, isTypedOnly } = delegateOf(chain, wallet);
		const signatureKind: SignatureKind = isTypedOnly || signing.chance(typedChance) ? "typed" : "personal";
		const signature =
			signatureKind === "typed"
				? await wallet.signTypedData(orderTypedData(order))
				: await wallet.signMessage({ message: { raw: orderDigest(order) } });
		const op = { delegate, gas: openGasLimit, signatureKind };
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

	/** Returns the account that the wallet delegates to. It follows from the wallet's address, so it never changes. */
	function delegateOf({ deployment }: SimEvmChain, { address }: PrivateKeyAccount) {
		const { delegate, typedDelegate } = deployment.contracts;
		const isTypedOnly = Number.parseInt(address.slice(-2), 16) % typedOnlyEvery === 0;
		return { delegate: isTypedOnly ? typedDelegate : delegate, isTypedOnly };
	}

	function evmChainOf(chainId: number): SimEvmChain {
		const chain = Object.values(evm).find((candidate) => candidate.chainId === chainId);
		if (!chain) throw new Error(`chain ${chainId} is not of the world`);
		return chain;
	}

	return { swaps, begin, comeBack, isBusy: () => busy > 0 };
}

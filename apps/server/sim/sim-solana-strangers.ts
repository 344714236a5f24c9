import {
	closeOrder,
	decideOrders,
	expireOrder,
	fundOrder,
	inputAddress,
	type Order,
	openOrder,
	orderAddress,
	orderId,
	packDeadlines,
	payOrder,
	prepareOrder,
	recordAddress,
	type SolanaAddress,
	solanaNativeToken,
	toSolanaWord,
	toWord,
	transferInstruction,
	unpackDeadlines,
} from "@geoswap/protocol";
import type { Instruction, KeyPairSigner } from "@solana/kit";
import { AuthorityType, getSetAuthorityInstruction } from "@solana-program/token";
import { bytesToHex, type Hex } from "viem";
import type { SeededRandom } from "./seeded-random.ts";
import { tokenAddressOf } from "./solana/account-address.ts";
import { sendInstructions } from "./solana/send-instructions.ts";
import type { World } from "./world.ts";

export const solanaActs = [
	"gift",
	"dust",
	"early-gift",
	"late-gift",
	"account-given-away",
	"flood",
	"preparation",
	"own-order",
	"foreign-order",
	"early-decision",
	"meddling",
] as const;
export type SolanaAct = (typeof solanaActs)[number];

const floodSize = 25;
/** More than an account without data must hold, because a smaller gift to an empty one is refused. */
const giftLamports = 1_000_000n;
/** A price per compute unit that no transaction of the service pays, so that a block takes the stranger's first. */
const highestPrice = 4_000_000n;
const lookEveryMs = 200;
/** Milliseconds that a stranger waits for an order to meddle with. */
const patienceMs = 90_000;

/** Creates the acts of strangers on Solana, with their own keys and money. */
export function createSolanaStrangers(
	{ scheduler, evm, solana, wallets, database }: World,
	random: SeededRandom,
): { act: (name: SolanaAct) => Promise<void>; spentLamports: () => bigint } {
	const { deployment } = solana;
	const { address: program, vault, attesterSet } = deployment.program;
	let spent = 0n;

	async function newStranger(): Promise<KeyPairSigner> {
		const stranger = await solana.newWallet();
		solana.give(solanaNativeToken, stranger.address, 10n ** 10n);
		return stranger;
	}

	async function send(
		feePayer: KeyPairSigner,
		instructions: readonly Instruction[],
		computePrice?: bigint,
	): Promise<void> {
		const more = computePrice === undefined ? {} : { computePrice };
		spent += await sendInstructions(solana, { feePayer, instructions, ...more });
	}

	const lamports = (from: KeyPairSigner, to: SolanaAddress, amount: bigint) =>
		transferInstruction(deployment, { from, to, token: toSolanaWord(solanaNativeToken), amount });

	/** Returns the orders that callers have signed. */
	const ordersOf = (side: "from" | "to") =>
		wallets.swaps.flatMap(({ plan, order }) => (order && plan[side] === "solana" ? [order] : []));

	/** Waits for something that a stranger can observe. Returns undefined if it does not come. */
	async function observe<T>(look: () => Promise<T | undefined>): Promise<T | undefined> {
		const untilMs = scheduler.nowMs() + patienceMs;
		while (scheduler.nowMs() < untilMs) {
			const found = await look();
			if (found !== undefined) return found;
			await scheduler.sleep(lookEveryMs, "a stranger waits");
		}
		return undefined;
	}

	/** Returns the first order from Solana of which the account satisfies the condition. */
	const orderWhere = (isIt: (account: Awaited<ReturnType<typeof solana.orderOf>>) => boolean) =>
		observe(async () => {
			for (const order of ordersOf("from").toReversed()) {
				if (isIt(await solana.orderOf(orderId(order)))) return order;
			}
			return undefined;
		});

	/** Prepares a caller's order, and gives it back if its wallet never opens it. */
	async function prepareFirst(): Promise<void> {
		const order = await orderWhere((account) => account === undefined);
		if (!order) return;
		const stranger = await newStranger();
		await send(stranger, [await prepareOrder(program, order, stranger)], highestPrice);
		const { openDeadline } = unpackDeadlines(order.deadlines);
		await scheduler.sleep((Number(openDeadline) + 2) * 1_000 - scheduler.nowMs(), "a stranger waits");
		if ((await solana.orderOf(orderId(order)))?.state === "prepared") await takeBack(stranger, order);
	}

	async function takeBack(stranger: KeyPairSigner, order: Order): Promise<void> {
		await send(stranger, [
			await expireOrder(program, orderId(order)),
			await payOrder(program, order, { to: "wallet" }),
			await closeOrder(program, orderId(order), stranger.address),
		]);
	}

	/** Gives lamports to an order that was paid, and has them paid too. */
	async function giveLate(): Promise<void> {
		const order = await orderWhere((account) => account?.isPaid === true);
		if (!order) return;
		const stranger = await newStranger();
		const account = await solana.orderOf(orderId(order));
		const to = account?.state === "released" ? "vault" : "wallet";
		await send(stranger, [
			await lamports(stranger, await orderAddress(program, orderId(order)), giftLamports),
		]);
		await send(stranger, [await payOrder(program, order, { to })]);
	}

	/**
	 * Opens the stranger's own order against the service's program, too small to be of any worth. Takes half of these
	 * orders back.
	 */
	async function openOwn({ isForeign }: { isForeign: boolean }): Promise<void> {
		const wallet = await newStranger();
		const token = deployment.settlementToken;
		solana.give(token, wallet.address, 10n ** 9n);
		const order = ownOrder(wallet.address, isForeign ? wallet.address : vault);
		await send(wallet, [
			await prepareOrder(program, order, wallet),
			await fundOrder(program, order, { wallet, decimals: 6 }),
			await openOrder(program, order),
		]);
		if (random.chance(0.5)) return;
		await scheduler.sleep(70_000, "a stranger waits");
		await takeBack(wallet, order);
	}

	function ownOrder(wallet: SolanaAddress, vaultOfOrder: SolanaAddress): Order {
		const now = BigInt(Math.floor(scheduler.nowMs() / 1_000));
		const isLocal = random.chance(0.5);
		const { chainId, deployment: east } = evm.east;
		return {
			originChainId: BigInt(solana.chainId),
			destinationChainId: BigInt(isLocal ? solana.chainId : chainId),
			escrow: toSolanaWord(program),
			originVault: toSolanaWord(vaultOfOrder),
			destinationVault: isLocal ? toSolanaWord(vaultOfOrder) : toWord(east.contracts.vault),
			attesterSet: attesterSet.hash,
			wallet: toSolanaWord(wallet),
			inputToken: toSolanaWord(deployment.settlementToken),
			inputAmount: BigInt(random.between(1, 1_000)),
			outputToken: isLocal ? toSolanaWord(solanaNativeToken) : toWord(east.settlementToken),
			minOutput: 1n,
			recipient: isLocal ? toSolanaWord(wallet) : toWord(east.contracts.escrow),
			topUp: 0n,
			swapKey: bytesToHex(new Uint8Array([...new Uint8Array(16), ...random.bytes(16)])),
			deadlines: packDeadlines({ openDeadline: now + 60n, fillDeadline: now + 61n, refundAfter: now + 62n }),
		};
	}

	/** Lands the attesters' decision about an order before the service does, and pays half of these orders. */
	async function decideFirst(): Promise<void> {
		const known = new Set((await readDecisions()).map(({ id }) => id));
		const found = await observe(async () => (await readDecisions()).find(({ id }) => !known.has(id)));
		const order = ordersOf("from").find((one) => found?.order_ids.includes(orderId(one)));
		if (!found || !order) return;
		const { kind, order_ids: orderIds, signatures } = found;
		const decision = await decideOrders(program, kind, { orderIds, set: attesterSet, signatures });
		const payment = await payOrder(program, order, { to: kind === "Release" ? "vault" : "wallet" });
		await send(await newStranger(), random.chance(0.5) ? [decision] : [decision, payment], highestPrice);
	}

	/** Reads what attesters have signed for orders from Solana, which is public on the chain. */
	async function readDecisions() {
		const { rows } = await database.pool.query<{
			id: string;
			kind: "Release" | "Refund";
			order_ids: Hex[];
			signatures: Hex[];
		}>("select id, kind, order_ids, signatures from attestations where chain_id = $1 order by id", [
			solana.chainId,
		]);
		return rows;
	}

	/** Sends every instruction that any account may send for an order, each by itself. Most of them fail. */
	async function meddle(): Promise<void> {
		const order = await orderWhere((account) => account !== undefined);
		if (!order) return;
		const id = orderId(order);
		const stranger = await newStranger();
		const payer = (await solana.orderOf(id))?.payer ?? stranger.address;
		for (const instruction of [
			openOrder(program, order),
			expireOrder(program, id),
			payOrder(program, order, { to: "vault" }),
			payOrder(program, order, { to: "wallet" }),
			closeOrder(program, id, payer),
			closeOrder(program, id, stranger.address),
		]) {
			await send(stranger, [await instruction]);
		}
	}

	async function act(name: SolanaAct): Promise<void> {
		switch (name) {
			case "gift": {
				const stranger = await newStranger();
				const token = random.pick(deployment.assets).address;
				if (token === solanaNativeToken) return send(stranger, [await lamports(stranger, vault, 1_000n)]);
				solana.give(token, stranger.address, 10n ** 9n);
				const gift = { from: stranger, to: vault, token: toSolanaWord(token), amount: 1_000n };
				return send(stranger, [await transferInstruction(deployment, gift)]);
			}
			case "dust": {
				const stranger = await newStranger();
				const tokens = deployment.assets.filter(({ address }) => address !== solanaNativeToken);
				const holdings = tokens.map(({ address: token }) => tokenAddressOf({ owner: vault, token }));
				for (const address of [vault, ...deployment.feePayers, ...holdings]) {
					await send(stranger, [await lamports(stranger, address, 1n)]);
				}
				return;
			}
			case "early-gift": {
				const known = [...ordersOf("from"), ...ordersOf("to")];
				if (known.length === 0) return;
				const addressOf = random.pick([orderAddress, inputAddress, recordAddress]);
				const to = await addressOf(program, orderId(random.pick(known)));
				const stranger = await newStranger();
				return send(stranger, [await lamports(stranger, to, giftLamports)]);
			}
			case "late-gift":
				return giveLate();
			case "account-given-away": {
				const owner = await newStranger();
				const token = deployment.settlementToken;
				solana.give(token, owner.address, 10n ** 9n);
				const owned = tokenAddressOf({ owner: owner.address, token });
				const authorityType = AuthorityType.AccountOwner;
				return send(owner, [
					getSetAuthorityInstruction({ owned, owner, authorityType, newAuthority: vault }),
				]);
			}
			case "flood": {
				const stranger = await newStranger();
				for (let i = 0; i < floodSize; i++) {
					await send(stranger, [await lamports(stranger, vault, BigInt(i + 1))]);
				}
				return;
			}
			case "preparation":
				return prepareFirst();
			case "own-order":
			case "foreign-order":
				return openOwn({ isForeign: name === "foreign-order" });
			case "early-decision":
				return decideFirst();
			case "meddling":
				return meddle();
		}
	}

	return { act, spentLamports: () => spent };
}

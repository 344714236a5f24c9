import { inputAddress, type Order, orderAddress, orderId, solanaChainId } from "@geoswap/protocol";
import { type Address, type Instruction, lamports } from "@solana/kit";
import type { Hex } from "viem";
import { createScene, native, type Scene } from "./scene.ts";
import { isNative } from "./test-helpers.ts";

/** Returns a source of numbers that follow from the seed. */
export function createDice(seed: number): (below: number) => number {
	let state = (seed * 2_654_435_761 + 1) >>> 0;
	return (below) => {
		state = (Math.imul(state ^ (state >>> 15), 2_246_822_519) + 0x9e3779b9) >>> 0;
		return (state >>> 8) % below;
	};
}

export type History = Awaited<ReturnType<typeof createHistory>>;

/** Creates a scene in which time passes, with orders of all kinds that follow from a seed. */
export async function createHistory(seed: number) {
	const scene = await createScene();
	const any = createDice(seed);
	let time = scene.start;
	scene.svm.airdrop(scene.wallet.address, lamports(1_000_000_000_000n));
	scene.svm.airdrop(scene.recipient.address, lamports(1_000_000_000n));

	function pick<T>(list: readonly T[]): T {
		return list[any(list.length)] as T;
	}

	function passTime(seconds: number): void {
		time += BigInt(seconds);
		scene.setTime(time);
	}

	/** Returns an order from Solana, within it or to it. */
	function newOrder(terms: Partial<Order> = {}, kind = pick(["from", "within", "to"] as const)): Order {
		const [open, fill, refund] = [any(200), 200 + any(3_000), 4_000 + any(200_000)].map(
			(seconds) => time + BigInt(seconds),
		);
		const deadlines = ((open ?? 0n) << 128n) | ((fill ?? 0n) << 64n) | (refund ?? 0n);
		const isSol = any(3) === 0;
		const input = isSol ? { inputToken: native, inputAmount: 1_000_000_000n } : {};
		const output = isSol ? { outputToken: native, minOutput: 1_000_000n } : {};
		const topUp = any(4) === 0 ? 1_000_000n : 0n;
		if (kind === "from") return scene.orderFrom({ deadlines, ...input, ...terms });
		if (kind === "within") return scene.orderWithin({ deadlines, topUp, ...input, ...terms });
		return scene.orderTo({ deadlines, topUp, ...output, ...terms });
	}

	/** Returns the tokens in the inputs of these orders. */
	async function tokensInInputs(orders: readonly Order[]): Promise<bigint> {
		const addresses = await Promise.all(orders.map((order) => inputAddress(scene.program, orderId(order))));
		return addresses.reduce((sum, address) => sum + tokensAt(scene, address), 0n);
	}

	return { scene, any, pick, passTime, newOrder, tokensInInputs, time: () => time };
}

/** Returns the tokens of an account, or zero if it is missing or not a token account. */
function tokensAt(scene: Scene, address: Address): bigint {
	const account = scene.svm.getAccount(address);
	return account.exists && account.data.length === 165 ? scene.tokensIn(address) : 0n;
}

/** Returns the state of an order's account: 0 prepared, 1 open, 2 released, 3 refunded; undefined if there is none. */
export async function stateOf(
	scene: Scene,
	id: Hex,
): Promise<{ state: number; isPaid: boolean } | undefined> {
	const account = scene.svm.getAccount(await orderAddress(scene.program, id));
	if (!account.exists || account.data.length === 0) return undefined;
	return { state: account.data[1] ?? 0, isPaid: account.data[2] === 1 };
}

export function isFromSolana(order: Order): boolean {
	return order.originChainId === BigInt(solanaChainId);
}

/** An amount above the minimum of an order of `newOrder`. */
export function amountFor({ outputToken }: Order): bigint {
	return isNative(outputToken) ? 2_000_000n : 950n;
}

/** Returns how many different keys sign a transaction with these instructions. */
export function signerCount(feePayer: Address, instructions: readonly Instruction[]): bigint {
	const signers = instructions.flatMap(({ accounts = [] }) =>
		accounts.flatMap((meta) => ("signer" in meta ? [meta.address] : [])),
	);
	return BigInt(new Set([feePayer, ...signers]).size);
}

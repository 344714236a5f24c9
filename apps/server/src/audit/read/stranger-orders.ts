import { type Hex, hexToBytes } from "viem";

/** An open order that is not in the books. */
type StrangerOrder = {
	orderId: Hex;
	/** The block in which it was opened. Its terms can be read there again. */
	block: number;
	/**
	 * The first second in which the order may be refunded without a void, if it names the service's vaults and attesters.
	 * 0 for all other orders, which the audit does not check.
	 */
	refundableAt: number;
};

export type StrangerOrders = {
	/** Sums of the open orders' inputs, by holding key. */
	owed: ReadonlyMap<string, bigint>;
	/** The number of orders in the sums. */
	count: () => number;
	/** The number of orders that are in no sum. */
	uncounted: () => number;
	/** Does nothing if the order is already in the table. */
	add: (order: StrangerOrder & { holding: string; amount: bigint }) => void;
	find: (orderId: Hex) => StrangerOrder | undefined;
	remove: (orderId: Hex) => void;
	/** Subtracts the inputs of all orders from the sums. The orders can still be found. */
	uncountAll: () => void;
};

/** More orders than anyone opens, and few enough for the memory of the process. */
const maxOrders = 2 ** 20;
/** Words of 32 bits in an order's id. */
const idWords = 8;
const maxUint32 = 0xffff_ffff;

/**
 * Creates a table of the open orders of strangers. Anyone can open as many as they pay for, so each takes 66 bytes, in
 * arrays that the operating system backs with memory only as they are filled. Orders beyond the limit are only counted.
 * The sums are then too small, never too large, and a thief gains nothing from that, because the inputs that are in no
 * sum are the thief's own.
 */
export function createStrangerOrders({
	max = maxOrders,
	// Without these keys, an attacker cannot choose ids that fall into one bucket.
	hashKeys = crypto.getRandomValues(new Uint32Array(idWords)),
}: {
	max?: number;
	hashKeys?: Uint32Array;
} = {}): StrangerOrders {
	const buckets = 2 ** 20;
	/** Heads and links of the buckets' lists and of the list of free slots. A link is a slot plus one; 0 ends a list. */
	const heads = new Uint32Array(buckets);
	const links = new Uint32Array(max);
	const ids = new Uint32Array(max * idWords);
	const amounts = new BigUint64Array(max * 2);
	const holdings = new Uint16Array(max);
	const blocks = new Uint32Array(max);
	const refundableAts = new Uint32Array(max);
	const holdingKeys: string[] = [];
	const owed = new Map<string, bigint>();
	let used = 0;
	let free = 0;
	let kept = 0;
	/** Orders that were left out because too many are open, and kept orders whose amounts were set to zero. */
	let leftOut = 0;
	let zeroed = 0;

	const wordsOf = (id: Hex) => new Uint32Array(hexToBytes(id).buffer);
	const bucketOf = (words: Uint32Array) => {
		let hash = 0;
		for (let i = 0; i < idWords; i++) hash += Math.imul(words[i] ?? 0, (hashKeys[i] ?? 0) | 1);
		return (hash >>> 0) >>> 12;
	};
	const isAt = (slot: number, words: Uint32Array) =>
		words.every((word, i) => ids[slot * idWords + i] === word);
	/** Returns the link that leads to the order, as its array and index. */
	const linkTo = (words: Uint32Array): { from: Uint32Array; at: number; slot: number } | undefined => {
		let [from, at] = [heads, bucketOf(words)];
		for (;;) {
			const link = from[at] ?? 0;
			if (link === 0) return undefined;
			if (isAt(link - 1, words)) return { from, at, slot: link - 1 };
			[from, at] = [links, link - 1];
		}
	};
	const addToSum = (holding: string, amount: bigint) => {
		const sum = (owed.get(holding) ?? 0n) + amount;
		if (sum === 0n) owed.delete(holding);
		else owed.set(holding, sum);
	};
	const holdingIndex = (key: string) => {
		const index = holdingKeys.indexOf(key);
		return index >= 0 ? index : holdingKeys.push(key) - 1;
	};
	const takeSlot = () => {
		if (free === 0) return used++;
		const slot = free - 1;
		free = links[slot] ?? 0;
		return slot;
	};

	return {
		owed,
		count: () => kept - zeroed,
		uncounted: () => leftOut + zeroed,
		add: ({ orderId, block, refundableAt, holding, amount }) => {
			const words = wordsOf(orderId);
			if (linkTo(words)) return;
			if (kept === max || block > maxUint32) {
				leftOut++;
				return;
			}
			const slot = takeSlot();
			const bucket = bucketOf(words);
			ids.set(words, slot * idWords);
			amounts[slot * 2] = amount;
			amounts[slot * 2 + 1] = amount >> 64n;
			holdings[slot] = holdingIndex(holding);
			blocks[slot] = block;
			refundableAts[slot] = Math.min(refundableAt, maxUint32);
			links[slot] = heads[bucket] ?? 0;
			heads[bucket] = slot + 1;
			addToSum(holding, amount);
			kept++;
		},
		find: (orderId) => {
			const found = linkTo(wordsOf(orderId));
			if (!found) return undefined;
			return { orderId, block: blocks[found.slot] ?? 0, refundableAt: refundableAts[found.slot] ?? 0 };
		},
		remove: (orderId) => {
			const found = linkTo(wordsOf(orderId));
			if (!found) return;
			const { from, at, slot } = found;
			from[at] = links[slot] ?? 0;
			links[slot] = free;
			free = slot + 1;
			const amount = (amounts[slot * 2] ?? 0n) + ((amounts[slot * 2 + 1] ?? 0n) << 64n);
			addToSum(holdingKeys[holdings[slot] ?? 0] ?? "", -amount);
			kept--;
			if (amount === 0n) zeroed--;
		},
		uncountAll: () => {
			amounts.fill(0n, 0, used * 2);
			owed.clear();
			zeroed = kept;
		},
	};
}

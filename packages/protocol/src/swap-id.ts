import { TypeID } from "typeid-js";
import { bytesToHex, type Hex, hexToBytes, pad } from "viem";

/** A swap's UUIDv7 in lower case with dashes, which is its key in the database, in the engine and in the order. */
export type SwapUuid = `${string}-${string}-${string}-${string}-${string}`;
/** A swap's id in the API. */
export type SwapId = `swp_${string}`;

const prefix = "swp";

/** Returns a new UUIDv7. Ids made later sort later, to the millisecond. */
export function newSwapUuid({ nowMs, random }: { nowMs: number; random: Uint8Array }): SwapUuid {
	if (random.length !== 10) throw new RangeError("a UUIDv7 needs ten random bytes");
	const bytes = new Uint8Array(16);
	new DataView(bytes.buffer).setBigUint64(0, BigInt(nowMs) << 16n);
	bytes.set(random, 6);
	bytes[6] = 0x70 | ((bytes[6] ?? 0) & 0x0f);
	bytes[8] = 0x80 | ((bytes[8] ?? 0) & 0x3f);
	return toDashed(bytesToHex(bytes));
}

/** Returns the smallest UUID that a swap made at this moment can have, at which a partition begins. */
export function firstSwapUuidAt(nowMs: number): SwapUuid {
	return toDashed(`0x${BigInt(nowMs).toString(16).padStart(12, "0").padEnd(32, "0")}`);
}

/** Returns when the id was made, in unix milliseconds. */
export function swapUuidTimeMs(uuid: SwapUuid): number {
	return Number.parseInt(uuid.replaceAll("-", "").slice(0, 12), 16);
}

/** Returns the swap's id in the API, `swp_…`. */
export function toSwapId(uuid: SwapUuid): SwapId {
	return TypeID.fromUUID(prefix, uuid).toString() as SwapId;
}

/** Returns the UUID in a `swp_…`, or undefined if the text is anything else. */
export function fromSwapId(swapId: string): SwapUuid | undefined {
	try {
		const uuid = TypeID.fromString(swapId, prefix).toUUID() as SwapUuid;
		// Only one spelling is accepted, because two texts for one swap would be two keys.
		return toSwapId(uuid) === swapId ? uuid : undefined;
	} catch {
		return undefined;
	}
}

/** Returns the word in which an order carries its swap. */
export function toSwapKey(uuid: SwapUuid): Hex {
	return pad(`0x${uuid.replaceAll("-", "")}`, { size: 32 });
}

/**
 * Returns the swap's id in an order's `swapKey`. Anyone can open an order with any `swapKey`, so use the id only together
 * with the order's id.
 */
export function fromSwapKey(swapKey: Hex): SwapUuid {
	if (BigInt(swapKey) >> 128n !== 0n) throw new RangeError(`swapKey ${swapKey} is not a UUID`);
	return toDashed(`0x${swapKey.slice(-32)}`);
}

/**
 * Returns the id of an order's swap if the id that its word names is taken by another order's swap. It has the same
 * time, and is the same for every caller.
 */
export function spareSwapUuid({ swapKey, orderId }: { swapKey: Hex; orderId: Hex }): SwapUuid {
	const nowMs = swapUuidTimeMs(fromSwapKey(swapKey));
	return newSwapUuid({ nowMs, random: hexToBytes(orderId).slice(0, 10) });
}

function toDashed(hex: Hex): SwapUuid {
	const h = hex.slice(2);
	return `${h.slice(0, 8)}-${h.slice(8, 12)}-${h.slice(12, 16)}-${h.slice(16, 20)}-${h.slice(20)}`;
}

import type { ChainDeployment } from "@geoswap/protocol";
import { type Address, concat, type Hex, keccak256, numberToHex, pad, zeroAddress } from "viem";
import { lower } from "./lower.ts";
import { tokenContractOf } from "./sim-evm-deployment.ts";
import { stateKey } from "./state-overlay.ts";

/**
 * Storage slots of the mappings that the simulator accesses directly, not through contract calls. They follow from the
 * compiled contracts; `storage-slots.test.ts` compares them with what the contracts do.
 */
const slots = {
	escrow: { orderState: 2n, credit: 3n },
	vault: { orderState: 1n },
	DevToken: { balance: 0n, allowance: 1n },
	DevTokenWithoutReturn: { balance: 3n, allowance: 4n },
	WETH9: { balance: 3n, allowance: 4n },
} as const;

/** Computed slots, cached because hashing is slow, and the same slots are needed again and again. */
const cache = new Map<string, Hex>();

/** Returns the slot of a mapping's entry. */
function inMapping(slot: Hex, key: Hex): Hex {
	const cacheKey = `${slot}${key}`;
	let found = cache.get(cacheKey);
	if (!found) {
		if (cache.size > 50_000) cache.clear();
		found = keccak256(concat([pad(lower(key)), slot]));
		cache.set(cacheKey, found);
	}
	return found;
}

/** Returns the slot of an entry of the mapping at `slot`. With several keys, the mappings are nested. */
function slotOf(slot: bigint, ...keys: Hex[]): Hex {
	return keys.reduce(inMapping, numberToHex(slot, { size: 32 }));
}

/**
 * Returns functions that give the state key of each stored value. For `balance` and `credit`, the zero address is the
 * native token; it has no allowances.
 */
export function storageKeys({ contracts, assets, feeDiscountToken }: ChainDeployment) {
	const [escrow, vault] = [lower(contracts.escrow), lower(contracts.vault)];
	const tokens = new Map(
		[...assets, ...(feeDiscountToken ? [feeDiscountToken] : [])].map(({ address, symbol }) => [
			lower(address),
			slots[tokenContractOf(symbol)],
		]),
	);
	// Tokens outside the deployment, such as the hollow token, keep their balances in DevToken's slot.
	const layoutOf = (token: Address) => tokens.get(lower(token)) ?? slots.DevToken;
	return {
		balance: (token: Address, holder: Address) =>
			token === zeroAddress
				? stateKey.native(lower(holder))
				: stateKey.slot(lower(token), slotOf(layoutOf(token).balance, holder)),
		allowance: (token: Address, owner: Address, spender: Address) =>
			stateKey.slot(lower(token), slotOf(layoutOf(token).allowance, owner, spender)),
		escrowOrder: (orderId: Hex) => stateKey.slot(escrow, slotOf(slots.escrow.orderState, orderId)),
		credit: (token: Address, beneficiary: Address) =>
			stateKey.slot(escrow, slotOf(slots.escrow.credit, token, beneficiary)),
		vaultOrder: (orderId: Hex) => stateKey.slot(vault, slotOf(slots.vault.orderState, orderId)),
	};
}

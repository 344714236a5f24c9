import type { ChainDeployment } from "@geoswap/protocol";
import { type Address, concat, type Hex, keccak256, numberToHex, pad, zeroAddress } from "viem";
import { lower } from "./lower.ts";
import { tokenContractOf } from "./sim-evm-deployment.ts";
import { stateKey } from "./state-overlay.ts";

/** The slots in which the compilers keep the mappings that are read past the contracts' own functions. */
const slots = {
	escrow: { orderState: 2n, credit: 3n },
	vault: { orderState: 1n },
	DevToken: { balance: 0n, allowance: 1n },
	DevTokenWithoutReturn: { balance: 3n, allowance: 4n },
	WETH9: { balance: 3n, allowance: 4n },
} as const;

const known = new Map<string, Hex>();

function inMapping(slot: Hex, key: Hex): Hex {
	const name = `${slot}${key}`;
	let found = known.get(name);
	if (!found) {
		if (known.size > 50_000) known.clear();
		found = keccak256(concat([pad(lower(key)), slot]));
		known.set(name, found);
	}
	return found;
}

function slotOf(slot: bigint, ...keys: Hex[]): Hex {
	return keys.reduce(inMapping, numberToHex(slot, { size: 32 }));
}

/** Returns the keys of what a chain's contracts store. The zero address is the native token. */
export function storageKeys({ contracts, assets, feeDiscountToken }: ChainDeployment) {
	const [escrow, vault] = [lower(contracts.escrow), lower(contracts.vault)];
	const tokens = new Map(
		[...assets, ...(feeDiscountToken ? [feeDiscountToken] : [])].map(({ address, symbol }) => [
			lower(address),
			slots[tokenContractOf(symbol)],
		]),
	);
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

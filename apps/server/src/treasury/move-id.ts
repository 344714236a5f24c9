import { wordOfAddress } from "@geoswap/protocol";
import { encodeAbiParameters, type Hex, keccak256 } from "viem";

type MoveKind = "trade" | "send" | "bridge" | "manual";

/** What a move is from and to. At most one move of a key is open at a time. */
export type MoveKey = {
	kind: MoveKind;
	chainId: number;
	token: Hex;
	toChainId: number;
	/** Who receives: the vault itself for a trade, the relayer for a send, the other chain's vault for a bridge. */
	address: Hex;
};

const types = [
	{ type: "string" },
	{ type: "uint256" },
	{ type: "bytes32" },
	{ type: "uint256" },
	{ type: "bytes32" },
	{ type: "uint256" },
] as const;

/**
 * Returns the id of the key's next move. It follows from the key and the number of its moves so far alone, so a plan
 * that is made a second time, as after a restore, has an id that the vault refuses.
 */
export function moveId(key: MoveKey, movesSoFar: number): Hex {
	const { kind, chainId, token, toChainId, address } = key;
	return keccak256(
		encodeAbiParameters(types, [
			kind,
			BigInt(chainId),
			wordOfAddress(chainId, token),
			BigInt(toChainId),
			wordOfAddress(toChainId, address),
			BigInt(movesSoFar),
		]),
	);
}

/** Returns a text that only the same key has. */
export function moveKeyText({ kind, chainId, token, toChainId, address }: MoveKey): string {
	return `${kind} ${chainId} ${token} ${toChainId} ${address}`.toLowerCase();
}

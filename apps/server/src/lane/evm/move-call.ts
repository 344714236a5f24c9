import { geoVaultAbi } from "@geoswap/protocol";
import { type Abi, decodeFunctionData, encodeAbiParameters, type Hex } from "viem";
import { cctpAbi } from "../../chain/evm/cctp/cctp-abi.ts";
import type { TreasuryMove } from "../../money/move/treasury-moves.ts";

/** A contract's function with its arguments. */
export type MoveCall = { address: Hex; abi: Abi; functionName: string; args: readonly unknown[] };

/** Returns the vault's call that makes a move. A trade reverts after its deadline, which is in seconds. */
export function moveCall(move: TreasuryMove, { deadline }: { deadline: number }): MoveCall {
	const { holder: address, moveId, token, amount } = move;
	const call = (functionName: string, args: readonly unknown[]): MoveCall => {
		return { address, abi: geoVaultAbi, functionName, args: [moveId, token, ...args] };
	};
	switch (move.kind) {
		case "trade": {
			const [poolFee = 0, secondPoolFee = 0] = move.data.poolFees;
			const { toToken, minReceived } = move;
			return call("trade", [toToken, amount, minReceived, poolFee, secondPoolFee, BigInt(deadline)]);
		}
		case "send":
			return call("send", [move.address, amount]);
		case "bridge": {
			const { maxFee, minFinalityThreshold } = move.data;
			const types = [{ type: "uint256" }, { type: "uint32" }] as const;
			return call("bridge", [
				move.address,
				amount,
				encodeAbiParameters(types, [BigInt(maxFee), minFinalityThreshold]),
			]);
		}
	}
}

/** Returns the time after which a signed move's call reverts, in seconds. Undefined if it never does. */
export function deadlineOf(data: Hex): number | undefined {
	const { functionName, args } = decodeFunctionData({ abi: [...geoVaultAbi, ...cctpAbi], data });
	return functionName === "trade" ? Number(args[7]) : undefined;
}

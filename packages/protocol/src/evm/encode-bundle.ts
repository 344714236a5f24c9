import { type Address, type ContractFunctionArgs, encodeFunctionData, type Hex } from "viem";
import { geoEscrowAbi } from "../abi/geo-escrow-abi.ts";
import { geoVaultAbi } from "../abi/geo-vault-abi.ts";
import type { Order } from "../order.ts";

export type Fill = ContractFunctionArgs<typeof geoVaultAbi, "nonpayable", "fillMany">[0][number];
export type Opening = ContractFunctionArgs<typeof geoEscrowAbi, "nonpayable", "openMany">[0][number];
export type Attestation = ContractFunctionArgs<typeof geoEscrowAbi, "nonpayable", "releaseMany">[1];

/** The work of one transaction of a relayer, for many orders if the contract can do that. */
export type Bundle =
	| { kind: "open"; escrow: Address; openings: Opening[] }
	| { kind: "fill"; vault: Address; fills: Fill[] }
	| { kind: "void"; vault: Address; orders: Order[] }
	| { kind: "release"; escrow: Address; orders: Order[]; attestation: Attestation }
	| { kind: "refund"; escrow: Address; orders: Order[]; attestation: Attestation }
	| { kind: "late-refund"; escrow: Address; order: Order };

/** Encodes the call that the relayer signs. */
export function encodeBundle(bundle: Bundle): { to: Address; data: Hex } {
	switch (bundle.kind) {
		case "open":
			return {
				to: bundle.escrow,
				data: encodeFunctionData({ abi: geoEscrowAbi, functionName: "openMany", args: [bundle.openings] }),
			};
		case "fill":
			return {
				to: bundle.vault,
				data: encodeFunctionData({ abi: geoVaultAbi, functionName: "fillMany", args: [bundle.fills] }),
			};
		case "void":
			return {
				to: bundle.vault,
				data: encodeFunctionData({ abi: geoVaultAbi, functionName: "voidMany", args: [bundle.orders] }),
			};
		case "release":
		case "refund":
			return {
				to: bundle.escrow,
				data: encodeFunctionData({
					abi: geoEscrowAbi,
					functionName: bundle.kind === "release" ? "releaseMany" : "refundMany",
					args: [bundle.orders, bundle.attestation],
				}),
			};
		case "late-refund":
			return {
				to: bundle.escrow,
				data: encodeFunctionData({ abi: geoEscrowAbi, functionName: "refund", args: [bundle.order] }),
			};
	}
}

import { type Address, type Client, parseAbi, zeroAddress } from "viem";
import { readContract, simulateContract } from "viem/actions";
import { type Found, ok } from "../check/finding.ts";
import type { EvmPreset } from "./preset-schema.ts";

export type FeeContractName = keyof EvmPreset["fees"]["contracts"];

const feeContractAbi = parseAbi([
	"function l1BaseFee() view returns (uint256)",
	"function basefee() view returns (uint256)",
	"function getPricesInWei() view returns (uint256 perL2Tx, uint256 perL1CalldataByte, uint256 perStorage, uint256 perArbGasBase, uint256 perArbGasCongestion, uint256 perArbGasTotal)",
	"function gasEstimateL1Component(address to, bool contractCreation, bytes data) payable returns (uint64 gasForL1, uint256 baseFee, uint256 l1BaseFeeEstimate)",
]);

/** Throws unless the contract answers the call that a fee model makes, or one that only this contract has. */
export async function checkFeeContract(
	client: Client,
	{ name, address }: { name: FeeContractName; address: Address },
): Promise<Found> {
	switch (name) {
		case "gasPriceOracle":
			await readContract(client, { address, abi: feeContractAbi, functionName: "l1BaseFee" });
			return ok("answers l1BaseFee");
		case "l1Block":
			await readContract(client, { address, abi: feeContractAbi, functionName: "basefee" });
			return ok("answers basefee");
		case "arbGasInfo":
			await readContract(client, { address, abi: feeContractAbi, functionName: "getPricesInWei" });
			return ok("answers getPricesInWei");
		case "nodeInterface":
			// This contract exists in calls only, and has no code that could be looked at.
			await simulateContract(client, {
				address,
				abi: feeContractAbi,
				functionName: "gasEstimateL1Component",
				args: [zeroAddress, false, "0x"],
			});
			return ok("answers gasEstimateL1Component");
	}
}

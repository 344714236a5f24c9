import { type EvmAccount, swap } from "@geoswap/sdk";
import { type Hex, parseUnits } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { chains, client, pins, tokenOf, variable } from "./environment.ts";

// The key is somewhere else, such as an HSM, an enclave or another service. Everything that it signs was verified here
// first.
const elsewhere = privateKeyToAccount(variable("GEOSWAP_EVM_KEY") as Hex);
const signer: EvmAccount = {
	address: elsewhere.address,
	signTypedData: async (typedData) => {
		const { inputAmount, minOutput, recipient } = typedData.message;
		console.error(`asked to give ${inputAmount} for at least ${minOutput} to ${recipient}`);
		return elsewhere.signTypedData(typedData);
	},
	signAuthorization: async (authorization) => {
		console.error(`asked to delegate to ${authorization.address} on chain ${authorization.chainId}`);
		return elsewhere.signAuthorization(authorization);
	},
};

const result = await swap(client, {
	originChain: chains.one,
	destinationChain: chains.two,
	inputToken: tokenOf(chains.one, "USDC"),
	outputToken: tokenOf(chains.two, "USDC"),
	amount: parseUnits("10", 6),
	minOutput: parseUnits("9.9", 6),
	signer,
	pins,
});
console.log(result.status, result.deliveryTxHash);

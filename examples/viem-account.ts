import { swap } from "@geoswap/sdk";
import { type Hex, parseUnits } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { chains, client, pins, tokenOf, variable } from "./environment.ts";

// Swaps 10 USDC from one EVM chain to another, by a wallet that needs no gas. The first swap delegates it (EIP-7702).
const result = await swap(client, {
	originChain: chains.one,
	destinationChain: chains.two,
	inputToken: tokenOf(chains.one, "USDC"),
	outputToken: tokenOf(chains.two, "USDC"),
	amount: parseUnits("10", 6),
	minOutput: parseUnits("9.9", 6),
	signer: privateKeyToAccount(variable("GEOSWAP_EVM_KEY") as Hex),
	pins,
	onProgress: ({ step }) => console.error(step),
});
console.log(result.status, result.deliveryTxHash);

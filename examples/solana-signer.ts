import { swap } from "@geoswap/sdk";
import { solanaSigner } from "@geoswap/sdk/solana";
import { getBase58Encoder } from "@solana/kit";
import { type Hex, parseUnits } from "viem";
import { privateKeyToAddress } from "viem/accounts";
import { chains, client, pins, tokenOf, variable } from "./environment.ts";

// Swaps 10 USDC from Solana, by a wallet without a lamport, to an EVM wallet. A signer of @solana/kit works as well.
const key = new Uint8Array(getBase58Encoder().encode(variable("GEOSWAP_SOLANA_KEY")));
const result = await swap(client, {
	originChain: chains.solana,
	destinationChain: chains.one,
	inputToken: tokenOf(chains.solana, "USDC"),
	outputToken: tokenOf(chains.one, "USDC"),
	amount: parseUnits("10", 6),
	minOutput: parseUnits("9.9", 6),
	recipient: privateKeyToAddress(variable("GEOSWAP_EVM_KEY") as Hex),
	signer: await solanaSigner(key),
	pins,
	onProgress: ({ step }) => console.error(step),
});
console.log(result.status, result.deliveryTxHash);

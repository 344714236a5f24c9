import { swap } from "@geoswap/sdk";
import { fileStore } from "@geoswap/sdk/file-store";
import { type Hex, parseUnits } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { chains, client, pins, tokenOf, variable } from "./environment.ts";

// The intent has a name, and its record a folder. This program may die and restart with the same two any number of times,
// and there is only one swap. The program resumes it, and once the swap has ended, prints its outcome.
//
//   node examples/resume-after-a-crash.ts rent-for-june .swaps --die      dies once it is submitted
//   node examples/resume-after-a-crash.ts rent-for-june .swaps            goes on with that swap, and waits for its end
const [id = "rent-for-june", directory = ".swaps", die] = process.argv.slice(2);
const result = await swap(client, {
	id,
	store: fileStore(directory),
	originChain: chains.one,
	destinationChain: chains.two,
	inputToken: tokenOf(chains.one, "USDC"),
	outputToken: tokenOf(chains.two, "USDC"),
	amount: parseUnits("10", 6),
	minOutput: parseUnits("9.9", 6),
	signer: privateKeyToAccount(variable("GEOSWAP_EVM_KEY") as Hex),
	pins,
	onProgress: ({ step }) => {
		console.error(step);
		if (die === "--die" && step === "submitted") process.kill(process.pid, "SIGKILL");
	},
});
console.log(result.status, result.swapId);

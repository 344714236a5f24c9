import { createClient, type Deployment, swap } from "@geoswap/sdk";
import { solanaSigner } from "@geoswap/sdk/solana";
import { generateKeyPairSigner } from "@solana/kit";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";

// An agent's program, with the packages of its own folder. Two wallets make their first swap and a later one from an EVM
// chain, the second one by signing only hashes, and a third one swaps from Solana. Prints the statuses.

type Route = { originChain: number; destinationChain: number; inputToken: string; outputToken: string };
type Settings = {
	/** A service for each EVM wallet, in which it is not delegated yet. */
	baseUrls: [string, string];
	pins: Deployment;
	evm: Route;
	solana: Route;
};

const { baseUrls, pins, evm, solana } = JSON.parse(process.env.SETTINGS ?? "") as Settings;
const terms = { amount: 10_000_000n, minOutput: 9_900_000n, pins };
const account = privateKeyToAccount(generatePrivateKey());
const { address, sign } = privateKeyToAccount(generatePrivateKey());
const statuses: string[] = [];
for (const [i, signer] of [account, { address, sign }].entries()) {
	const client = createClient({ baseUrl: baseUrls[i] ?? "", apiKey: "key-1" });
	for (let swaps = 0; swaps < 2; swaps++)
		statuses.push((await swap(client, { ...terms, ...evm, signer })).status);
}
const client = createClient({ baseUrl: baseUrls[0], apiKey: "key-1" });
const signer = await solanaSigner(await generateKeyPairSigner());
statuses.push((await swap(client, { ...terms, ...solana, recipient: address, signer })).status);
console.log(JSON.stringify(statuses));

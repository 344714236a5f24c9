import { resolve } from "node:path";
import { connectDevnetChain, connectSolanaAdmin, defaultStackPort, fundWallet } from "@geoswap/devnet";
import { getBase58Decoder } from "@solana/kit";
import { generatePrivateKey, privateKeyToAddress } from "viem/accounts";
import { assetAddress } from "../wallet/make-order.ts";
import { newSolanaKey } from "../wallet/solana-key.ts";
import { openStack, readOptions, stackOptions } from "./open-stack.ts";

const help = `Usage: eval "$(pnpm --silent wallet)"

Creates a wallet with 100 USDC and no gas token on the first chain, and one on Solana, of the stack that \`pnpm start\` started.
Prints their keys and the address of the stack as shell variables.

  --port <number>    the stack's port (default: ${defaultStackPort})
  --data-dir <path>  the stack's folder, if it was started with --data-dir
  --wait <seconds>   how long to wait for a stack that still starts (default: 0)
  --json             print JSON instead
  --help             show this help

Exits 2 if no stack is running.`;

const values = readOptions(help, stackOptions);
const { stack, dataDir } = await openStack(help, values);
const [endpoint] = stack.chains;
const deployment = stack.deployment.chains.find(({ chainId }) => chainId === endpoint?.chainId);
if (!endpoint || !deployment) throw new Error("the stack has no chain");

const amount = 100_000_000n;
const evmKey = generatePrivateKey();
const chain = { ...connectDevnetChain(endpoint), deployment };
const token = assetAddress(chain, "USDC");
await fundWallet(chain, { deployment, wallet: privateKeyToAddress(evmKey), token, amount });
const variables: Record<string, string> = {
	GEOSWAP_URL: stack.baseUrl,
	GEOSWAP_API_KEY: stack.apiKey,
	GEOSWAP_DEPLOYMENT: resolve(dataDir, "deployment.json"),
	GEOSWAP_EVM_KEY: evmKey,
	// The folder is the devnet's own, so that the user's files for other services stay untouched.
	GEOSWAP_HOME: resolve(dataDir, "agent"),
};
const { solana } = stack.deployment;
if (stack.solana && solana) {
	const { address: owner, bytes } = await newSolanaKey();
	const usdc = assetAddress({ chainId: solana.chainId, deployment: solana }, "USDC");
	await connectSolanaAdmin(stack.solana.rpcUrl).mintTo({ owner, token: usdc, amount });
	variables.GEOSWAP_SOLANA_KEY = getBase58Decoder().decode(bytes);
}
if (values.json) console.log(JSON.stringify(variables));
else for (const [name, value] of Object.entries(variables)) console.log(`export ${name}='${value}'`);

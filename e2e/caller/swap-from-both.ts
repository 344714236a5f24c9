import { createClient, type Deployment, swap } from "@geoswap/sdk";
import { solanaSigner } from "@geoswap/sdk/solana";
import { getBase58Encoder } from "@solana/kit";
import { type Hex, parseUnits } from "viem";
import { privateKeyToAccount } from "viem/accounts";

/**
 * Swaps 10 USDC from the first EVM chain to Solana, and another 10 the other way, in parallel. Returns the status of
 * each swap. This is the program of a third party. It imports only the published SDK and the libraries that the SDK
 * needs (viem, @solana/kit), so it runs in Node and in a browser.
 */
export async function swapFromBoth({
	baseUrl,
	apiKey,
	evmKey,
	solanaKey,
	pins,
}: {
	baseUrl: string;
	apiKey: string;
	evmKey: string;
	solanaKey: string;
	/**
	 * The operator's deployment file, with the contracts and tokens that the SDK trusts, regardless of the service's
	 * responses.
	 */
	pins: Deployment;
}): Promise<string[]> {
	const client = createClient({ baseUrl, apiKey });
	const account = privateKeyToAccount(evmKey as Hex);
	const signer = await solanaSigner(new Uint8Array(getBase58Encoder().encode(solanaKey)));
	const [evm] = pins.chains;
	const { solana } = pins;
	if (!evm || !solana) throw new Error("an EVM chain and Solana are needed");
	const usdc = (chain: { assets: readonly { symbol: string; address: string }[] }) =>
		chain.assets.find(({ symbol }) => symbol === "USDC")?.address ?? "";
	// Fees are taken from the input, and so is the cost of the token account that the recipient on Solana does not have
	// yet. Each swap may lose up to 1 USDC to them.
	const sizes = { amount: parseUnits("10", 6), minOutput: parseUnits("9", 6) };
	const swaps = await Promise.all([
		swap(client, {
			originChain: evm.chainId,
			destinationChain: solana.chainId,
			inputToken: usdc(evm),
			outputToken: usdc(solana),
			...sizes,
			recipient: signer.address,
			signer: account,
			pins,
		}),
		swap(client, {
			originChain: solana.chainId,
			destinationChain: evm.chainId,
			inputToken: usdc(solana),
			outputToken: usdc(evm),
			...sizes,
			recipient: account.address,
			signer,
			pins,
		}),
	]);
	return swaps.map(({ status }) => status);
}

import { type ChainDeployment, geoVaultAbi } from "@geoswap/protocol";
import { type Client, zeroAddress } from "viem";
import { readContract } from "viem/actions";

/** The kind of a cap on fills, as the vault numbers the kinds. */
const fillCap = 0;

/** A cap is left alone if it is this near to what the price of now gives: the owners should not sign for each move. */
const tolerancePercent = 25n;

/** Returns the vault's caps that stay as they are, by symbol. */
export async function readKeptCaps(
	client: Client,
	{ deployment, wanted }: { deployment: ChainDeployment; wanted: Readonly<Record<string, string>> },
): Promise<Record<string, string>> {
	const kept: Record<string, string> = {};
	for (const { symbol, address } of deployment.assets) {
		const [cap] = await readContract(client, {
			address: deployment.contracts.vault,
			abi: geoVaultAbi,
			functionName: "capOf",
			args: [fillCap, address, zeroAddress],
		});
		const now = BigInt(wanted[symbol] ?? 0);
		const difference = cap > now ? cap - now : now - cap;
		if (now > 0n && difference * 100n <= now * tolerancePercent) kept[symbol] = String(cap);
	}
	return kept;
}

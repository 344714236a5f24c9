import type { SolanaDeployment } from "@geoswap/protocol";
import { createSolanaRpc } from "@solana/kit";
import { solanaBalance } from "./solana-balance.ts";

/** Returns the balances of vault and escrow of each asset, by symbol. */
export async function solanaHoldings({
	rpcUrl,
	deployment,
}: {
	rpcUrl: string;
	deployment: SolanaDeployment;
}): Promise<{ vault: Record<string, string>; escrow: Record<string, string> }> {
	const rpc = createSolanaRpc(rpcUrl);
	const holdings = async (owner: "vault" | "escrow") =>
		Object.fromEntries(
			await Promise.all(
				deployment.assets.map(async ({ symbol, address }) => [
					symbol,
					String(await solanaBalance({ rpc }, address, deployment[owner])),
				]),
			),
		);
	return { vault: await holdings("vault"), escrow: await holdings("escrow") };
}

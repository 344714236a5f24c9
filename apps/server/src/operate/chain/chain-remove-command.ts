import { formatUnits } from "viem";
import { connectChain } from "../../chain/evm/connect-chain.ts";
import { readBalances } from "../../chain/evm/read/read-balances.ts";
import { type EvmChainConfig, firstUrl } from "../../config/chain-config.ts";
import { createUnendedCounts } from "../../watch/count-unended.ts";
import { withDatabase } from "../with-database.ts";
import { expectEvm } from "./apply-settings.ts";
import { readPreset } from "./read-presets.ts";
import { removeChain } from "./remove-chain.ts";

const waitsForSomeone = 3;

/** Returns the exit code: 0 if the chain is removed, 3 if its swaps must end first. */
export async function chainRemoveCommand({
	name,
	config,
	dryRun = false,
	json,
}: {
	name: string;
	config: string;
	dryRun?: boolean;
	json?: boolean;
}): Promise<number> {
	const chainId = /^[1-9]\d*$/.test(name) ? Number(name) : expectEvm(readPreset(name)).chainId;
	const nowMs = Date.now();
	const removal = await removeChain({
		configPath: config,
		chainId,
		countOpen: () => countOpen(chainId, nowMs),
		readInventory,
		isDryRun: dryRun,
		nowMs,
	});
	if (json) console.log(JSON.stringify(removal));
	else console.log([removal.state, ...removal.lines.map((line) => `  ${line}`)].join("\n"));
	return removal.state === "waiting" ? waitsForSomeone : 0;
}

function countOpen(chainId: number, nowMs: number): Promise<number> {
	return withDatabase(async (db) => {
		const counts = await createUnendedCounts({ db, paces: [] }).read({ nowMs });
		return counts
			.filter(({ origin, destination }) => [origin, destination].includes(String(chainId)))
			.reduce((sum, { count }) => sum + Number(count), 0);
	});
}

async function readInventory(config: EvmChainConfig): Promise<string[]> {
	const chain = connectChain({ ...config, rpcUrl: firstUrl(config) });
	const { assets, contracts } = config.deployment;
	const blockNumber = Number(await chain.client.getBlockNumber());
	const holders = [contracts.vault, ...contracts.earlierVaults];
	const tokens = assets.map(({ address }) => address);
	const balances = await readBalances(chain, { holders, tokens, blockNumber });
	return assets.flatMap(({ symbol, decimals }, i) => {
		const balance = balances[i] ?? 0n;
		return balance > 0n ? `${formatUnits(balance, decimals)} ${symbol}` : [];
	});
}

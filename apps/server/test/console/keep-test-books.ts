import { nativeTokenOf, type UsdE18 } from "@geoswap/protocol";
import { bytesToHex, type Hex } from "viem";
import type { ConsoleConfig } from "../../src/config/config-problems.ts";
import { configuredAssets } from "../../src/config/configured-assets.ts";
import type { DatabasePool } from "../../src/database/database.ts";
import { postOpening } from "../../src/money/ledger/post.ts";
import { closeDay } from "../../src/money/profit/close-day.ts";
import { savePriceMarks } from "../../src/money/profit/price-marks.ts";
import { moveChains } from "./console-world.ts";

type Books = { database: { owner: DatabasePool }; config: ConsoleConfig };

const dayMs = 86_400_000;
const shownDays = 12;

/** Opens the books of every chain, and closes the days up to a moment, with prices that change. */
export async function keepTestBooks(
	{ database: { owner }, config }: Books,
	{ untilMs }: { untilMs: number },
): Promise<void> {
	await moveChains(owner, { config, nowMs: untilMs - (shownDays + 1) * dayMs });
	for (const { chainId } of config.chains) {
		const assets = configuredAssets(config).filter((asset) => asset.chainId === chainId);
		await postOpening(owner, {
			chainId,
			blockNumber: await headOf(owner, chainId),
			balances: [
				...assets.map(({ token, decimals, kind }) => {
					const amount = (kind === "stable" ? 250_000n : 40n) * 10n ** BigInt(decimals);
					return { account: "inventory" as const, token, amount };
				}),
				{ account: "relayer", token: nativeTokenOf(chainId), amount: 2n * 10n ** 9n },
			],
		});
	}
	for (let day = shownDays; day >= 0; day--) {
		const atMs = untilMs - day * dayMs;
		await moveChains(owner, { config, nowMs: atMs - dayMs / 2 });
		await savePriceMarks(
			owner,
			configuredAssets(config).map(({ chainId, token, kind }) => {
				const milli = kind === "stable" ? 1_000n : BigInt(2_450_000 + ((day * 7_919) % 61) * 1_000);
				return { chainId, token, usdE18: (milli * 10n ** 15n) as UsdE18 };
			}),
		);
		await closeTestDay({ database: { owner }, config }, { atMs });
	}
}

/** Closes the day before a moment on every chain, where the chains have what the ledger has. */
export async function closeTestDay(
	{ database: { owner }, config }: Books,
	{ atMs }: { atMs: number },
): Promise<void> {
	await moveChains(owner, { config, nowMs: atMs });
	for (const { chainId } of config.chains) {
		const { rows } = await owner.query<{ account: "inventory" | "relayer"; token: Buffer; balance: bigint }>(
			"select account, token, balance from ledger_balances where chain_id = $1 and account in ('inventory', 'relayer')",
			[chainId],
		);
		const held = rows.map(({ account, token, balance }) => {
			return { account, token: bytesToHex(token), amount: balance };
		});
		await closeDay(owner, {
			chainId,
			timestamp: Math.floor(atMs / 1_000),
			holdings: { blockNumber: await headOf(owner, chainId), held },
			agreeing: [held],
			decimalsOf: (token: Hex) =>
				configuredAssets(config).find(
					(asset) => asset.chainId === chainId && asset.token.toLowerCase() === token,
				)?.decimals,
		});
	}
}

async function headOf(owner: DatabasePool, chainId: number): Promise<number> {
	const { rows } = await owner.query<{ number: number }>(
		"select number from chain_heads where chain_id = $1",
		[chainId],
	);
	return rows[0]?.number ?? 0;
}

import { lesser } from "@geoswap/protocol";
import { decimal, usd } from "../../api/page/format.ts";
import { type Content, html } from "../../api/page/html.ts";
import type { ChainNames } from "../../config/chain-names.ts";
import type { ConsoleConfig } from "../../config/config-problems.ts";
import type { Overview } from "../read/read-overview.ts";
import type { Page } from "../route/console-route.ts";
import { bar, section, table } from "./parts.ts";

/** Returns the page of what the vaults hold, how much of it is reserved, and what may leave them. */
export function inventoryPage(
	{ vitals }: Overview,
	{ config, chainNames }: { config: ConsoleConfig; chainNames: ChainNames },
): Page {
	const body = html`
		<h1>Inventory</h1>
		<p class="subtitle">Swaps are paid out from the vaults. To refill or withdraw, use the commands of docs/capital.md.</p>
		${config.chains.map((chain) => inventoryOf(chain.chainId))}
		${section(
			{
				id: "exposure",
				title: "Exposure",
				note: "delivered against inputs that are not released yet",
				isLive: true,
			},
			table({
				label: "Exposure by chain",
				columns: [
					{ title: "Inputs from" },
					{ title: "Not released", isNumber: true },
					{ title: "of cap" },
					{ title: "Not final", isNumber: true },
					{ title: "of cap" },
				],
				rows: config.chains.map(({ chainId, unreleasedCapUsd, unfinalCapUsd }) => {
					const exposure = vitals.exposure.find((one) => one.chainId === chainId);
					const unreleased = Number(exposure?.unreleasedUsdCents ?? 0n);
					const unfinal = Number(exposure?.unfinalUsdCents ?? 0n);
					return [
						chainNames.name(chainId),
						usd(unreleased),
						capOf(unreleased / 100 / unreleasedCapUsd, unreleasedCapUsd),
						usd(unfinal),
						capOf(unfinal / 100 / unfinalCapUsd, unfinalCapUsd),
					];
				}),
				none: "No chain is configured.",
			}),
		)}`;
	return { title: "Inventory · Geoswap console", menu: "/inventory", body };

	function inventoryOf(chainId: number): Content {
		const rows = vitals.inventory
			.filter((one) => one.chainId === chainId)
			.map(({ token, balance, reserved, outflowAvailable }) => {
				const shown = (amount: bigint) => decimal(chainNames.tokens(chainId, token, amount).amount, 4);
				const { symbol } = chainNames.tokens(chainId, token, 0n);
				const limit = lesser(balance, outflowAvailable);
				const free = limit > reserved ? limit - reserved : 0n;
				return [
					html`<b>${symbol}</b>`,
					shown(balance),
					shown(reserved),
					bar(
						shareOf(reserved, balance),
						`${Math.round(shareOf(reserved, balance) * 100)} % of ${symbol} is reserved`,
					),
					shown(outflowAvailable),
					html`<b>${shown(free)}</b>`,
					balance <= outflowAvailable ? "what the vault holds" : "the hourly cap",
				];
			});
		return section(
			{ id: `inventory-${chainId}`, title: chainNames.name(chainId), isLive: true },
			table({
				label: `Inventory on ${chainNames.name(chainId)}`,
				columns: [
					{ title: "Token" },
					{ title: "Held", isNumber: true },
					{ title: "Reserved", isNumber: true },
					{ title: "Share reserved" },
					{ title: "May leave now", isNumber: true },
					{ title: "Free to sell", isNumber: true },
					{ title: "Limited by" },
				],
				rows,
				none: "No worker has read the vault yet.",
			}),
		);
	}
}

function shareOf(part: bigint, whole: bigint): number {
	return whole === 0n ? 0 : Number((part * 10_000n) / whole) / 10_000;
}

function capOf(share: number, capUsd: number): Content {
	const label = `${Math.round(share * 100)} % of ${usd(capUsd * 100)}`;
	return html`<span class="quiet">${label}</span>${bar(share, label)}`;
}

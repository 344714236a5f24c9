import { createChainNames } from "../../config/chain-names.ts";
import { readTreasuryView } from "../../operate/treasury/plan-command.ts";
import { findAsset } from "../asset/read-assets.ts";
import type { ConsoleParts } from "../console-parts.ts";
import { readConsoleLog } from "../login/console-log.ts";
import type { SessionLimits } from "../login/sessions.ts";
import { booksPage } from "../page/books-page.ts";
import { inventoryPage } from "../page/inventory-page.ts";
import { keysPage } from "../page/keys-page.ts";
import { logPage } from "../page/log-page.ts";
import { overviewPage } from "../page/overview-page.ts";
import { errorPage } from "../page/page-frame.ts";
import { profitPage } from "../page/profit-page.ts";
import { treasuryPage } from "../page/treasury-page.ts";
import { cacheFor } from "../read/cache-for.ts";
import { readAccountKeys } from "../read/read-keys.ts";
import { createOverview } from "../read/read-overview.ts";
import { createProfitView } from "../read/read-profit-view.ts";
import { midnightMs, readLedgerSums } from "../read/read-today.ts";
import { chainRoutes } from "./chain-routes.ts";
import { type ConsoleAnswer, type ConsoleRoute, type OperatorRequest, page } from "./console-route.ts";
import { loginRoutes } from "./login-routes.ts";
import { swapRoutes } from "./swap-routes.ts";

const logSize = 50;
const flowsShown = 50;

/** Returns every route of the console. */
export function consoleRoutes(parts: ConsoleParts, limits: SessionLimits): ConsoleRoute[] {
	const { pool, config, nowMs } = parts;
	const chainNames = createChainNames(config);
	const readOverview = createOverview(parts, chainNames);
	const readProfit = createProfitView(parts, chainNames);
	const readSums = cacheFor(() => readLedgerSums(pool, { sinceMs: midnightMs(nowMs()) }), {
		maxAgeMs: 15_000,
		nowMs,
	});
	return [
		{
			method: "GET",
			path: "/",
			handle: async () => page(overviewPage(await readOverview(), { config, chainNames, nowMs: nowMs() })),
		},
		...swapRoutes(parts, chainNames),
		{
			method: "GET",
			path: "/inventory",
			handle: async () => page(inventoryPage(await readOverview(), { config, chainNames })),
		},
		{
			method: "GET",
			path: "/profit",
			handle: async () => page(profitPage(await readProfit(), { chainNames })),
		},
		{ method: "GET", path: "/treasury", handle: async () => page(await showTreasury()) },
		...chainRoutes(parts, { chainNames, readOverview }),
		{
			method: "GET",
			path: "/books",
			handle: async () => {
				const [overview, sums] = await Promise.all([readOverview(), readSums()]);
				return page(booksPage({ overview, sums }, { config, chainNames, nowMs: nowMs() }));
			},
		},
		{
			method: "GET",
			path: "/keys",
			handle: async () => page(keysPage(await readAccountKeys(pool), { config, nowMs: nowMs() })),
		},
		{ method: "GET", path: "/log", handle: showLog },
		...loginRoutes(parts, limits),
		{
			method: "GET",
			path: "/assets/:hash/:name",
			access: "public",
			handle: async ({ params }) => {
				const asset = findAsset(params.name ?? "");
				if (asset?.hash !== params.hash || !asset)
					return { ...errorPage("There is no such file."), status: 404 };
				return { kind: "file", type: asset.type, content: asset.content };
			},
		},
		// For a supervisor. It reports only that the process answers.
		{ method: "GET", path: "/health", access: "public", handle: async () => ({ kind: "json", body: {} }) },
	];

	async function showTreasury() {
		const view = await readTreasuryView(pool, { limit: flowsShown });
		return treasuryPage(view, { config, chainNames, nowMs: nowMs() });
	}

	async function showLog({ query }: OperatorRequest): Promise<ConsoleAnswer> {
		const before = /^[1-9]\d{0,14}$/.test(query.before ?? "") ? Number(query.before) : undefined;
		const entries = await readConsoleLog(pool, { before, limit: logSize + 1 });
		const shown = entries.slice(0, logSize);
		const next = entries.length > logSize ? shown.at(-1)?.id : undefined;
		return page(logPage(shown, { next, nowMs: nowMs() }));
	}
}

import { findAsset } from "../asset/read-assets.ts";
import type { ConsoleParts } from "../console-parts.ts";
import type { SessionLimits } from "../login/sessions.ts";
import { errorPage } from "../page/error-page.ts";
import { overviewPage } from "../page/overview-page.ts";
import { createChainBook } from "../read/chain-book.ts";
import { createOverview } from "../read/read-overview.ts";
import { type ConsoleRoute, page } from "./console-route.ts";
import { loginRoutes } from "./login-routes.ts";
import { swapRoutes } from "./swap-routes.ts";

/** Returns every route of the console. */
export function consoleRoutes(parts: ConsoleParts, limits: SessionLimits): ConsoleRoute[] {
	const { config, nowMs } = parts;
	const book = createChainBook(config);
	const readOverview = createOverview(parts, book);
	return [
		{
			method: "GET",
			path: "/",
			handle: async () => page(overviewPage(await readOverview(), { config, book, nowMs: nowMs() })),
		},
		...swapRoutes(parts, book),
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
		// For a supervisor: it says that the process answers, and nothing else.
		{ method: "GET", path: "/health", access: "public", handle: async () => ({ kind: "json", body: {} }) },
	];
}

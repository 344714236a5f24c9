import type { Route } from "../../src/api/http/route.ts";
import { type ApiParts, apiRoutes } from "../../src/api/route/api-routes.ts";
import type { Config } from "../../src/config/config.ts";

/**
 * Returns every endpoint, to be described, without dependencies other than these. A part that is called and absent
 * throws.
 */
export function routesWithoutParts(parts: Partial<ApiParts> = {}): Route[] {
	return apiRoutes({
		...Object.fromEntries(partNames.map((name) => [name, absent(name)])),
		config: absent("config", { chains: [] }) as Config,
		nowMs: () => 0,
		...parts,
	} as unknown as ApiParts);
}

const partNames = [
	...[
		"chains",
		"solana",
		"finalitySeconds",
		"pool",
		"listener",
		"book",
		"desk",
		"feeDiscounts",
		"recipients",
		"redis",
	],
	...[
		"heldCalls",
		"heldStreams",
		"feed",
		"shares",
		"rateLimits",
		"engine",
		"sealKeys",
		"webhookKeys",
		"pauses",
		"startup",
		"stopping",
	],
];

/** Returns a part whose fields can be passed on, but not called. */
function absent(name: string, known: Record<string, unknown> = {}): unknown {
	return new Proxy(() => {}, {
		get: (_, field) =>
			typeof field === "string" && field in known ? known[field] : absent(`${name}.${String(field)}`),
		apply: () => {
			throw new Error(`${name} was called, and there is none`);
		},
	});
}

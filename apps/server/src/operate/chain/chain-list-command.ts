import { existsSync } from "node:fs";
import { readConfig } from "../../config/read-config.ts";
import { readPresets } from "./read-presets.ts";

/** Prints every preset, and whether the configuration has the chain. */
export function chainListCommand({ config, json }: { config: string; json?: boolean }): void {
	const configured = existsSync(config) ? readConfig(config).chains : [];
	const rows = readPresets().map(({ slug, preset }) => {
		const found = configured.find((chain) =>
			preset.kind === "solana" ? chain.kind === "solana" : chain.chainId === preset.chainId,
		);
		return {
			name: slug,
			chain: preset.name,
			chainId: preset.kind === "solana" ? null : preset.chainId,
			testnet: preset.testnet,
			kind: preset.kind,
			tokens: preset.tokens.map(({ symbol }) => symbol),
			isConfigured: found !== undefined,
			unknown: pathsWhere(preset, (fact) => fact.value === null),
			oneSource: pathsWhere(preset, (fact) => fact.oneSource === true),
		};
	});
	if (json) {
		console.log(JSON.stringify(rows));
		return;
	}
	const widths = { name: 18, id: 10, kind: 10, state: 16 };
	for (const row of rows) {
		console.log(
			[
				row.name.padEnd(widths.name),
				String(row.chainId ?? "").padEnd(widths.id),
				row.kind.padEnd(widths.kind),
				(row.isConfigured ? "configured" : "not configured").padEnd(widths.state),
				`${row.tokens.join(" ")}${row.unknown.length > 0 ? `; unknown: ${row.unknown.length}` : ""}${row.oneSource.length > 0 ? `; with one source: ${row.oneSource.length}` : ""}`,
			].join(""),
		);
	}
	console.log("\nunknown values and values with one source are named by --json");
}

/**
 * Returns the paths of facts and terms for which the condition holds. List elements are named instead of numbered.
 */
function pathsWhere(
	value: unknown,
	holds: (fact: { value: unknown; oneSource?: unknown }) => boolean,
	path: readonly string[] = [],
): string[] {
	if (typeof value !== "object" || value === null) return [];
	if ("value" in value) return holds(value) ? [path.join(".")] : [];
	return Object.entries(value).flatMap(([key, inner]) =>
		pathsWhere(inner, holds, [...path, Array.isArray(value) ? nameOf(inner, key) : key]),
	);
}

function nameOf(element: unknown, index: string): string {
	const { pair, symbol } = (element ?? {}) as { pair?: string; symbol?: string };
	return pair ?? symbol ?? index;
}

import * as z from "zod";
import { ConfigError } from "../../config/config-error.ts";
import { type EvmPreset, type Preset, presetSchema } from "./preset-schema.ts";

/** The key under which an operator's own values state their source. */
const operatorSource = "operator";

/**
 * Returns the preset with an operator's own values, given as `path=value`, such as
 * `feeds.USDC/USD.heartbeatSeconds=86400`, and without the tokens, feeds and venues in `without`.
 */
export function applySettings(
	preset: EvmPreset,
	{ settings, without }: { settings: readonly string[]; without: readonly string[] },
): EvmPreset {
	const changed = structuredClone(preset) as unknown as Record<string, unknown>;
	for (const setting of settings) applySetting(changed, setting);
	for (const name of without) leaveOut(changed, name);
	const parsed = presetSchema.safeParse(changed);
	if (parsed.success) return expectEvm(parsed.data);
	throw new ConfigError("--set, --without", z.prettifyError(parsed.error));
}

/** Returns the preset if it is an EVM chain's. Throws otherwise, because Solana has no contracts to deploy. */
export function expectEvm(preset: Preset): EvmPreset {
	if (preset.kind !== "solana") return preset;
	throw new ConfigError(
		preset.name,
		"is not an EVM chain; follow the section on Solana in docs/add-a-chain.md",
	);
}

function applySetting(preset: Record<string, unknown>, setting: string): void {
	const equals = setting.indexOf("=");
	if (equals < 0) throw new ConfigError("--set", `"${setting}" is not path=value`);
	const path = setting.slice(0, equals).split(".");
	const value = parseValue(setting.slice(equals + 1));
	const last = path.pop() ?? "";
	let holder: unknown = preset;
	for (const step of path) holder = stepInto(holder, step);
	const known = stepInto(holder, last);
	if (holder === undefined || known === undefined) {
		throw new ConfigError("--set", `the preset has no ${setting.slice(0, equals)}`);
	}
	if (isObject(known) && "sources" in known) {
		known.value = value;
		known.sources = [operatorSource];
		known.oneSource = true;
		preset.sources = { ...(preset.sources as object), [operatorSource]: "given by the operator with --set" };
	} else if (isObject(known) && "reason" in known) {
		known.value = value;
		known.reason = "Given by the operator with --set.";
	} else {
		(holder as Record<string, unknown>)[last] = value;
	}
}

/** Returns the field with this name, or the element of a list with this symbol or pair. */
function stepInto(holder: unknown, step: string): unknown {
	if (Array.isArray(holder)) return holder.find(({ symbol, pair }) => symbol === step || pair === step);
	return isObject(holder) ? holder[step] : undefined;
}

function isObject(value: unknown): value is Record<string, unknown> {
	return typeof value === "object" && value !== null;
}

/** Returns the JSON value, or the text if it is not JSON, so that text needs no quotes. */
function parseValue(text: string): unknown {
	try {
		return JSON.parse(text);
	} catch {
		return text;
	}
}

function leaveOut(preset: Record<string, unknown>, name: string): void {
	const { tokens, feeds, venues } = preset as Pick<EvmPreset, "tokens" | "feeds" | "venues">;
	const others = {
		tokens: tokens.filter(({ symbol }) => symbol !== name),
		feeds: feeds.filter(({ pair }) => pair !== name),
		venues: Object.fromEntries(Object.entries(venues).filter(([venue]) => venue !== name)),
	};
	const isFound =
		others.tokens.length < tokens.length ||
		others.feeds.length < feeds.length ||
		Object.keys(others.venues).length < Object.keys(venues).length;
	if (!isFound) throw new ConfigError("--without", `the preset has no token, feed or venue ${name}`);
	Object.assign(preset, others);
}

import { readdirSync } from "node:fs";
import { basename, join } from "node:path";
import { parseJsonFile } from "@geoswap/keys/config/parse-json-file";
import { ConfigError } from "../../config/config-error.ts";
import { type Preset, presetSchema } from "./preset-schema.ts";

/** The folder with one file per chain. */
export const presetFolder = join(import.meta.dirname, "../../../presets");

/** A preset with the name that commands take, which is its file's name. */
export type NamedPreset = { slug: string; preset: Preset };

/** Reads every preset, main networks first. Throws if one is invalid. */
export function readPresets(folder = presetFolder): NamedPreset[] {
	return readdirSync(folder)
		.filter((file) => file.endsWith(".json"))
		.sort()
		.map((file) => ({
			slug: basename(file, ".json"),
			preset: parseJsonFile(presetSchema, join(folder, file)),
		}))
		.sort((one, other) => Number(one.preset.testnet) - Number(other.preset.testnet));
}

/** Reads one preset by its name. */
export function readPreset(slug: string, folder = presetFolder): Preset {
	const presets = readPresets(folder);
	const found = presets.find((named) => named.slug === slug);
	if (found) return found.preset;
	throw new ConfigError(
		slug,
		`there is no such preset. These are known: ${presets.map((one) => one.slug).join(", ")}`,
	);
}

import { existsSync } from "node:fs";
import { parseJsonFile } from "@geoswap/keys/config/parse-json-file";
import { deploymentSchema, formatDeployment } from "@geoswap/protocol";
import { type Address, getAddress, isAddress } from "viem";
import { ConfigError } from "../../config/config-error.ts";
import { writeWhole } from "../chain/config-file.ts";
import { replaceAttester } from "./replace-attester.ts";

/** Writes the deployment file with the new attester, and prints the retired sets for `earlierAttesterSets`. */
export function attestersReplaceCommand({
	deployment: path,
	old,
	new: fresh,
	out,
	json = false,
}: {
	deployment: string;
	old: string;
	new: string;
	out: string;
	json?: boolean;
}): void {
	const addresses = { from: expectAddress("--old", old), to: expectAddress("--new", fresh) };
	const { deployment, retired } = replaceAttester(parseJsonFile(deploymentSchema, path), addresses);
	if (existsSync(out)) throw new ConfigError("--out", `${out} exists already: choose another name`);
	writeWhole(out, formatDeployment(deployment));
	const told = [
		`${out} has the new attester. Add these sets to earlierAttesterSets of the service, of each attester and of the`,
		`remote signer, until no swap under way names them:\n${JSON.stringify(retired, null, "\t")}`,
	];
	console.log(json ? JSON.stringify({ file: out, earlierAttesterSets: retired }) : told.join("\n"));
}

function expectAddress(option: string, text: string): Address {
	// Only the checksum reveals a wrong digit.
	if (!isAddress(text, { strict: true }) || getAddress(text) !== text)
		throw new ConfigError(option, `${text} is not an address with its checksum`);
	return text;
}

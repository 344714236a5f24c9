// Makes what TypeScript needs of the contracts: their ABIs for packages/protocol, their creation code for deployment.
// Both are committed: the creation code fixes every address that is deployed from it.
// `--check` writes nothing and fails if what is committed is not what the sources give.
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { forgeBinary } from "./forge.ts";

const usage = `Usage: node contracts/generate.ts [--check] [--json]

Builds the contracts and writes packages/protocol/src/abi/ and contracts/artifacts/.

  --check  write nothing; exit 1 if a committed file is stale
  --json   print the result as JSON`;

type Contract = { name: string; source: string; isPublic: boolean };

const contracts: Contract[] = [
	{ name: "GeoAccount", source: "GeoAccount.sol", isPublic: true },
	{ name: "GeoEscrow", source: "GeoEscrow.sol", isPublic: true },
	{ name: "GeoVault", source: "GeoVault.sol", isPublic: true },
	{ name: "DevToken", source: "DevToken.sol", isPublic: false },
	{ name: "DevTokenWithoutReturn", source: "DevTokenWithoutReturn.sol", isPublic: false },
	{ name: "DevFeed", source: "DevFeed.sol", isPublic: false },
	{ name: "DevDeposit", source: "DevDeposit.sol", isPublic: false },
];

const { values: options } = parseArgs({
	options: { check: { type: "boolean" }, json: { type: "boolean" }, help: { type: "boolean" } },
});
if (options.help) {
	console.log(usage);
	process.exit(0);
}

const here = import.meta.dirname;
const abiFolder = join(here, "../packages/protocol/src/abi");
const artifactFolder = join(here, "artifacts");

execFileSync(forgeBinary(), ["build", "--skip", "test", "--quiet"], {
	cwd: here,
	stdio: ["ignore", "inherit", "inherit"],
});

const files = new Map<string, string>();
for (const { name, source, isPublic } of contracts) {
	const built = JSON.parse(readFileSync(join(here, "out", source, `${name}.json`), "utf8"));
	files.set(
		join(artifactFolder, `${name}.json`),
		`${JSON.stringify({ abi: built.abi, bytecode: built.bytecode.object }, null, "\t")}\n`,
	);
	if (isPublic) files.set(join(abiFolder, `${kebabCase(name)}-abi.ts`), abiModule(name, built.abi));
}

const stale = [...files].filter(([path, text]) => readIfThere(path) !== text).map(([path]) => path);
if (!options.check) {
	mkdirSync(abiFolder, { recursive: true });
	mkdirSync(artifactFolder, { recursive: true });
	for (const path of stale) writeFileSync(path, files.get(path) ?? "");
}
if (options.json) console.log(JSON.stringify({ files: files.size, stale }));
else if (stale.length === 0) console.log(`${files.size} generated files are up to date`);
else if (options.check) console.error(`stale, run \`pnpm generate\`:\n${stale.join("\n")}`);
else console.log(`written:\n${stale.join("\n")}`);
process.exit(options.check && stale.length > 0 ? 1 : 0);

function abiModule(name: string, abi: unknown): string {
	const variable = `${name[0]?.toLowerCase()}${name.slice(1)}Abi`;
	return `// Generated from contracts/src by \`pnpm generate\`. Do not edit.\nexport const ${variable} = ${JSON.stringify(abi, null, "\t")} as const;\n`;
}

function kebabCase(name: string): string {
	return name.replace(/(?<=[a-z])[A-Z]/g, (letter) => `-${letter}`).toLowerCase();
}

function readIfThere(path: string): string | undefined {
	try {
		return readFileSync(path, "utf8");
	} catch {
		return undefined;
	}
}

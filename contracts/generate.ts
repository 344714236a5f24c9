// Generates the files that TypeScript needs of the contracts: their ABIs for packages/protocol, their creation code for
// deployment, and the runtime code that attesters compare with the deployed code. All are committed, because the
// creation code fixes every address that is deployed from it. `--check` writes nothing and fails if the committed files
// differ from the output of the sources.
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { forgeBinary } from "./forge.ts";

const usage = `Usage: node contracts/generate.ts [--check] [--json]

Builds the contracts and writes packages/protocol/src/{abi,code}/, contracts/artifacts/, and the code that the server
runs in simulations.

  --check  write nothing; exit 1 if a committed file is stale
  --json   print the result as JSON`;

type Contract = {
	name: string;
	source: string;
	isPublic: boolean;
	/**
	 * Immutables in the order of their declaration, which is that of the compiler's ids. Set for contracts that attesters
	 * check.
	 */
	immutables?: readonly string[];
};

/** The immutables of OpenZeppelin's EIP712. */
const domainImmutables = [
	"_cachedDomainSeparator",
	"_cachedChainId",
	"_cachedThis",
	"_hashedName",
	"_hashedVersion",
	"_name",
	"_version",
];

const contracts: Contract[] = [
	{ name: "GeoAccount", source: "GeoAccount.sol", isPublic: true },
	{ name: "GeoEscrow", source: "GeoEscrow.sol", isPublic: true, immutables: domainImmutables },
	{
		name: "GeoVault",
		source: "GeoVault.sol",
		isPublic: true,
		immutables: ["ESCROW", "ROUTER", "SETTLEMENT_TOKEN", "WRAPPED_NATIVE", "SEQUENCER_FEED"],
	},
	{ name: "CctpRoute", source: "CctpRoute.sol", isPublic: false },
	{ name: "DevToken", source: "DevToken.sol", isPublic: false },
	{ name: "DevTokenWithoutReturn", source: "DevTokenWithoutReturn.sol", isPublic: false },
	{ name: "DevFeed", source: "DevFeed.sol", isPublic: false },
	{ name: "DevDeposit", source: "DevDeposit.sol", isPublic: false },
	{ name: "DevBlocklist", source: "DevBlocklist.sol", isPublic: false },
	{ name: "DevHollowToken", source: "DevHollowToken.sol", isPublic: false },
	{ name: "DevFlood", source: "DevFlood.sol", isPublic: false },
	{ name: "DevMessenger", source: "DevMessenger.sol", isPublic: false },
	{ name: "DevTransmitter", source: "DevTransmitter.sol", isPublic: false },
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
const codeFolder = join(here, "../packages/protocol/src/code");
const artifactFolder = join(here, "artifacts");

execFileSync(forgeBinary(), ["build", "--skip", "test", "--quiet"], {
	cwd: here,
	stdio: ["ignore", "inherit", "inherit"],
});

const files = new Map<string, string>([
	simulatedContract("SimulatedTarget"),
	simulatedContract("SimulatedPayer"),
]);
for (const { name, source, isPublic, immutables } of contracts) {
	const built = JSON.parse(readFileSync(join(here, "out", source, `${name}.json`), "utf8"));
	files.set(
		join(artifactFolder, `${name}.json`),
		`${JSON.stringify({ abi: built.abi, bytecode: built.bytecode.object }, null, "\t")}\n`,
	);
	if (isPublic) files.set(join(abiFolder, `${kebabCase(name)}-abi.ts`), abiModule(name, built.abi));
	if (immutables) {
		const code = codeModule(name, immutables, built.deployedBytecode);
		files.set(join(codeFolder, `${kebabCase(name)}-code.ts`), code);
	}
}

const stale = [...files].filter(([path, text]) => readIfThere(path) !== text).map(([path]) => path);
if (!options.check) {
	mkdirSync(abiFolder, { recursive: true });
	mkdirSync(codeFolder, { recursive: true });
	mkdirSync(artifactFolder, { recursive: true });
	for (const path of stale) writeFileSync(path, files.get(path) ?? "");
}
if (options.json) console.log(JSON.stringify({ files: files.size, stale }));
else if (stale.length === 0) console.log(`${files.size} generated files are up to date`);
else if (options.check) console.error(`stale, run \`pnpm generate\`:\n${stale.join("\n")}`);
else console.log(`written:\n${stale.join("\n")}`);
process.exit(options.check && stale.length > 0 ? 1 : 0);

/** Returns the module of a contract that the server places on a chain in simulations only. It has no immutables. */
function simulatedContract(name: string): [path: string, text: string] {
	const { abi, deployedBytecode } = JSON.parse(
		readFileSync(join(here, "out", `${name}.sol`, `${name}.json`), "utf8"),
	);
	const folder = join(here, "../apps/server/src/chain/evm/simulate");
	const text = generatedModule(name, { abi, runtimeCode: deployedBytecode.object });
	return [join(folder, `${kebabCase(name)}.ts`), text];
}

function abiModule(name: string, abi: unknown): string {
	return generatedModule(`${name}Abi`, abi);
}

/** Generates the module of the runtime code with its immutables zeroed, and their positions in it. */
function codeModule(
	name: string,
	immutables: readonly string[],
	{
		object,
		immutableReferences,
	}: { object: string; immutableReferences: Record<string, { start: number; length: number }[]> },
): string {
	const ids = Object.keys(immutableReferences).sort((a, b) => Number(a) - Number(b));
	if (ids.length !== immutables.length) {
		throw new Error(`${name} has ${ids.length} immutables: name all of them, in order, in generate.ts`);
	}
	const places = immutables.map((immutable, i) => {
		const references = immutableReferences[ids[i] ?? ""] ?? [];
		if (references.some(({ length }) => length !== 32))
			throw new Error(`${immutable} does not have 32 bytes`);
		return [immutable, references.map(({ start }) => start)];
	});
	return generatedModule(`${name}Code`, { runtimeCode: object, immutables: Object.fromEntries(places) });
}

function generatedModule(name: string, value: unknown): string {
	const variable = `${name[0]?.toLowerCase()}${name.slice(1)}`;
	return `// Generated from contracts/src by \`pnpm generate\`. Do not edit.\nexport const ${variable} = ${JSON.stringify(value, null, "\t")} as const;\n`;
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

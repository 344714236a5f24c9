import { execFile, execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { startModelService } from "./model-service.ts";
import * as evm from "./op-fixture.ts";
import * as solana from "./solana-op-fixture.ts";

const run = promisify(execFile);
const installed = join(import.meta.dirname, "../node_modules");

/** The peers of an agent: folders of packages that are installed here, or versions to install. */
type Peers = { viem: string; "@solana/kit": string };

/** Both ends of each range. */
const ends: Peers[] = [
	{ viem: "viem-oldest", "@solana/kit": "kit-oldest" },
	{ viem: "viem", "@solana/kit": "@solana/kit" },
];
/** Versions between the ends, which vendors of wallets pin or which begin a major version. */
const between: Peers[] = [
	{ viem: "2.38.3", "@solana/kit": "3.0.3" },
	{ viem: "2.44.2", "@solana/kit": "4.0.0" },
	{ viem: "2.54.6", "@solana/kit": "5.5.1" },
	{ viem: "2.56.0", "@solana/kit": "6.1.0" },
	{ viem: "2.57.1", "@solana/kit": "7.1.1" },
];

/** Swaps with the packed SDK and each set of peers, against the model of the service. Returns the problems. */
export async function tryPeers(scratch: string, { tarball }: { tarball: string }): Promise<string[]> {
	const problems: string[] = [];
	for (const [i, peers] of [...ends, ...(process.env.GEOSWAP_FULL ? between : [])].entries()) {
		const project = join(scratch, `peers-${i}`);
		const shown = `viem ${peers.viem}, kit ${peers["@solana/kit"]}`;
		try {
			installPackage(project, tarball);
			const isHere = ends.includes(peers);
			linkPeers(
				project,
				isHere ? foldersIn(installed, peers) : installPeers(join(scratch, `versions-${i}`), peers),
			);
			const statuses = await firstSwaps(project);
			if (statuses.join() !== "settled,settled,settled,settled,settled") throw new Error(statuses.join());
			console.log(`swaps settle with ${shown}`);
		} catch (error) {
			problems.push(`peers: no swap with ${shown}: ${(error as Error).message}`);
		}
	}
	return problems;
}

function installPackage(project: string, tarball: string): void {
	const folder = join(project, "node_modules/@geoswap/sdk");
	mkdirSync(folder, { recursive: true });
	execFileSync("tar", ["-xzf", tarball, "-C", folder, "--strip-components=1"]);
	writeFileSync(join(project, "package.json"), JSON.stringify({ type: "module" }));
	// The program is copied, because in its own folder it would find this repository's packages.
	copyFileSync(join(import.meta.dirname, "first-swaps.ts"), join(project, "first-swaps.ts"));
}

function linkPeers(project: string, folders: Peers): void {
	for (const [name, folder] of Object.entries(folders)) {
		const link = join(project, "node_modules", name);
		mkdirSync(dirname(link), { recursive: true });
		symlinkSync(folder, link);
	}
}

/** Installs the peers in a separate folder, because npm would remove a package that it has not installed. */
function installPeers(folder: string, peers: Peers): Peers {
	mkdirSync(folder, { recursive: true });
	const versions = Object.entries(peers).map(([name, version]) => `${name}@${version}`);
	const options = ["--no-save", "--no-package-lock", "--no-audit", "--no-fund", "--legacy-peer-deps"];
	execFileSync("npm", ["install", "--prefix", folder, ...options, ...versions], { stdio: "pipe" });
	return foldersIn(join(folder, "node_modules"), { viem: "viem", "@solana/kit": "@solana/kit" });
}

function foldersIn(modules: string, peers: Peers): Peers {
	return { viem: join(modules, peers.viem), "@solana/kit": join(modules, peers["@solana/kit"]) };
}

async function firstSwaps(project: string): Promise<string[]> {
	const services = [await startModelService(), await startModelService()];
	try {
		for (const { knobs } of services) Object.assign(knobs, { isDelegated: false, settleMs: 0 });
		const settings = {
			baseUrls: services.map(({ client }) => client.baseUrl),
			pins: solana.makePins(),
			evm: routeOf(evm.makeIntent()),
			solana: routeOf(solana.makeIntent()),
		};
		const env = { ...process.env, SETTINGS: JSON.stringify(settings) };
		const { stdout } = await run(process.execPath, [join(project, "first-swaps.ts")], { cwd: project, env });
		return JSON.parse(stdout) as string[];
	} finally {
		for (const service of services) await service.close();
	}
}

function routeOf({
	originChain,
	destinationChain,
	inputToken,
	outputToken,
}: ReturnType<typeof evm.makeIntent>) {
	return {
		originChain: Number(originChain),
		destinationChain: Number(destinationChain),
		inputToken,
		outputToken,
	};
}

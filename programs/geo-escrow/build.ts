import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join, resolve } from "node:path";
import { parseArgs } from "node:util";

const here = import.meta.dirname;
const programFile = join(here, "geo_escrow.so");
const recordFile = join(here, "geo_escrow.json");
const packages = "rustc-web cargo-web libstd-rust-web-dev-bpf llvm-22";

const help = `Builds the program with Debian's packages alone (Debian 12 with its security updates).

Usage: node programs/geo-escrow/build.ts [--check] [--source FOLDER] [--out FILE]

  --check          build, and compare with geo_escrow.so byte for byte; write nothing
  --source FOLDER  build the crate of this folder, not the one beside this file; needs --out
  --out FILE       write the program to this file, and no record
  -h, --help       show this help

Needs: apt-get install --no-install-recommends ${packages}`;

/** The record of the build of the committed program. */
type BuildRecord = { rustc: string; llc: string; sourceSha256: string; sha256: string; bytes: number };

const { values } = parseArgs({
	options: {
		check: { type: "boolean" },
		source: { type: "string" },
		out: { type: "string" },
		help: { type: "boolean", short: "h" },
	},
});
process.exitCode = run();

function run(): number {
	if (values.help) {
		console.log(help);
		return 0;
	}
	if (values.source && !values.out) {
		console.error("--source needs --out: geo_escrow.so is the program of the crate beside this file.");
		return 2;
	}
	if (!existsSync("/usr/lib/rustlib/bpfel-unknown-none") || !existsSync("/usr/bin/llc-22")) {
		console.error(
			`Debian's Rust for BPF is not installed. Run: apt-get install --no-install-recommends ${packages}`,
		);
		return 1;
	}
	const program = buildProgram(resolve(values.source ?? here));
	if (values.out) {
		writeFileSync(values.out, program);
		return 0;
	}
	const record: BuildRecord = {
		...toolVersions(),
		sourceSha256: sourceHash(),
		sha256: sha256(program),
		bytes: program.length,
	};
	if (values.check) return check(record);
	writeFileSync(programFile, program);
	writeFileSync(recordFile, `${JSON.stringify(record, undefined, "\t")}\n`);
	console.log(`${programFile}: ${record.bytes} bytes, sha256 ${record.sha256}`);
	return 0;
}

function buildProgram(source: string): Buffer {
	const target = mkdtempSync(join(tmpdir(), "geo-escrow-"));
	try {
		const args = ["build", "--offline", "--locked", "--release", "--quiet"];
		const places = ["--target", "bpfel-unknown-none", "--target-dir", target];
		execFileSync("/usr/bin/cargo", [...args, ...places, "--manifest-path", join(source, "Cargo.toml")], {
			stdio: "inherit",
			env: {
				...process.env,
				// The linker is a TypeScript file, which this version of Node runs.
				PATH: [dirname(process.execPath), process.env.PATH].join(delimiter),
				RUSTC: "/usr/bin/rustc",
				RUSTFLAGS: `--remap-path-prefix=${source}=. -Dwarnings`,
				CARGO_TARGET_BPFEL_UNKNOWN_NONE_LINKER: join(here, "link.ts"),
			},
		});
		return readFileSync(join(target, "bpfel-unknown-none/release/libgeo_escrow.so"));
	} finally {
		rmSync(target, { recursive: true });
	}
}

/** Compares a build with the committed one. Reports if other compilers made other bytes of the same source. */
function check(built: BuildRecord): number {
	const recorded: BuildRecord = JSON.parse(readFileSync(recordFile, "utf8"));
	const committed = sha256(readFileSync(programFile));
	if (committed !== recorded.sha256 || recorded.sourceSha256 !== built.sourceSha256) {
		console.error(
			"geo_escrow.so is not the program of these sources. Run `node programs/geo-escrow/build.ts`, and commit both files.",
		);
		return 1;
	}
	if (built.sha256 === committed) {
		console.log(`the program is what ${built.rustc} and ${built.llc} make of its source`);
		return 0;
	}
	const isOther = built.rustc !== recorded.rustc || built.llc !== recorded.llc;
	console.error(
		isOther
			? `geo_escrow.so was built by ${recorded.rustc} and ${recorded.llc}. Here are ${built.rustc} and ${built.llc}, which make other bytes of the same source, so that nothing was compared. Build it again to record these.`
			: "The same compilers make another program of these sources: the build is not reproducible.",
	);
	return isOther ? 0 : 1;
}

function toolVersions(): { rustc: string; llc: string } {
	const rustc = execFileSync("/usr/bin/rustc", ["--version"], { encoding: "utf8" }).trim();
	const llc = execFileSync("/usr/bin/llc-22", ["--version"], { encoding: "utf8" });
	return { rustc, llc: /LLVM version \S+/.exec(llc)?.[0] ?? "an unknown llc" };
}

/** Returns a hash over all source files of the program, and their names. */
function sourceHash(): string {
	const files = [...globSync("src/*.rs", { cwd: here }).sort(), "Cargo.toml", "Cargo.lock", "link.ts"];
	const hash = createHash("sha256");
	for (const file of files) hash.update(`${file}\0`).update(readFileSync(join(here, file)));
	return hash.digest("hex");
}

function sha256(bytes: Buffer): string {
	return createHash("sha256").update(bytes).digest("hex");
}

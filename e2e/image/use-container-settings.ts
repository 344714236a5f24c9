import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/**
 * Makes podman and buildah work on machines where their defaults do not, which are those with control groups of version
 * 1, and those where root may not raise its limits, as in another container. docs/install.md has the same settings.
 * Returns a function that undoes it.
 */
export function useContainerSettings(): () => void {
	if (process.env.CONTAINERS_CONF) return () => {};
	const containers: string[] = [];
	const engine: string[] = [];
	if (!existsSync("/sys/fs/cgroup/cgroup.controllers")) {
		engine.push('runtime = "runc"', 'cgroup_manager = "cgroupfs"');
	}
	const files = Number(execFileSync("sh", ["-c", "ulimit -Hn"], { encoding: "utf8" }));
	const defaultFiles = 1_048_576;
	if (files < defaultFiles) {
		containers.push(`default_ulimits = ["nofile=${files}:${files}", "nproc=32768:32768"]`);
	}
	const folder = mkdtempSync(join(tmpdir(), "geoswap-containers-"));
	const path = join(folder, "containers.conf");
	writeFileSync(path, ["[containers]", ...containers, "[engine]", ...engine, ""].join("\n"));
	process.env.CONTAINERS_CONF = path;
	return () => {
		delete process.env.CONTAINERS_CONF;
		rmSync(folder, { recursive: true });
	};
}

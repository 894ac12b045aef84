# nix-build -E 'with import <nixpkgs> {}; callPackage ./docs/packaging/agentco-tui.nix {}'
# Needs a nixpkgs whose packages are as new as pyproject.toml says (textual 8.2.8).
{ lib, python3, installShellFiles }:

python3.pkgs.buildPythonApplication {
  pname = "agentco-tui";
  version = lib.head (builtins.match ".*__version__ = \"([^\"]+)\".*"
    (builtins.readFile ../../agentco_tui/__init__.py));
  pyproject = true;
  src = lib.cleanSource ../..;

  build-system = [ python3.pkgs.hatchling ];
  dependencies = with python3.pkgs; [
    argcomplete
    h11
    httpcore
    httpx
    msgspec
    platformdirs
    rich
    textual
    websockets
  ];
  nativeBuildInputs = [ installShellFiles ];

  # The tests need a terminal and a network on loopback: .ci/wheel runs them.
  doCheck = false;
  pythonImportsCheck = [ "agentco_tui.cli.main" ];

  postInstall = ''
    for shell in bash zsh fish; do
      installShellCompletion --cmd agentco-tui --$shell <($out/bin/agentco-tui completion $shell)
    done
  '';

  meta = {
    description = "Terminal dashboard for the Agent Company Platform";
    license = lib.licenses.mit;
    mainProgram = "agentco-tui";
    platforms = lib.platforms.unix;
  };
}

#!/bin/sh
# The Python package: the wheel is built, installed into a virtual environment, and tested there.
#
#   tests/python.sh prepare KIND    makes the environment, which is kept; the last line says why not, if it fails
#   tests/python.sh run KIND        prints `ok ...`, `FAIL ...` and `skipped ...`
#
# KIND: python, with NumPy, PyTorch and mypy; frameworks, with JAX and TensorFlow: their tests, and an installation from
# a clean copy of the tree; or ecosystem, with the trainers of others over PyTorch, which are large.

. tests/lib.sh
BUILD=${BUILD:-build}
MAKE=${MAKE:-make}
PYTHON=${PYTHON:-python3}
kind=${2:-python}
venv=$BUILD/venv-$kind

case $kind in
python)
    packages="torch==2.13.0+cpu pillow mypy"
    # PyTorch without gigabytes for GPUs.
    index="--extra-index-url https://download.pytorch.org/whl/cpu"
    ;;
frameworks)
    packages="jax tensorflow"
    index=
    ;;
ecosystem)
    packages="torch==2.14.1 torchvision==0.29.1 torchdata lightning accelerate transformers pytorch-ignite fastai
        albumentations tensorflow-cpu keras datasets webdataset numba zstd python-snappy brotli xxhash"
    # These ask for older versions of the others, but work with newer ones. FFCV is compiled, and needs OpenCV.
    alone="mosaicml-streaming==0.13.0 ffcv==1.0.2"
    index="--extra-index-url https://download.pytorch.org/whl/cpu"
    ;;
esac

cannot()
{
    echo "$1"
    exit 1
}

install()
{
    # shellcheck disable=SC2086
    "$venv/bin/python" -m pip -q --disable-pip-version-check install --retries 1 $index "$@"
}

prepare()
{
    "$PYTHON" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || cannot "needs Python 3.11 or later"
    "$PYTHON" -c 'import ensurepip, venv' || cannot "needs python3-venv"
    header=$("$PYTHON" -c 'import sysconfig; print(sysconfig.get_path("include"))')/Python.h
    [ -e "$header" ] || cannot "needs python3-dev: there is no $header"
    wanted="$("$PYTHON" -VV) $packages ${alone-}"
    [ "$(cat "$venv/made" 2>/dev/null)" = "$wanted" ] && exit 0
    rm -rf "$venv"
    "$PYTHON" -m venv "$venv" || cannot "no virtual environment could be made"
    install "setuptools>=77" numpy pytest tqdm || cannot "NumPy, pytest and setuptools could not be installed"
    install pytest-xdist || echo "going on without pytest-xdist: one test after another"
    install --no-deps axe-playwright-python || echo "going on without axe-core, by whose rules pages are checked"
    for package in $packages; do
        install "$package" || echo "going on without $package, whose tests are skipped"
    done
    for package in ${alone-}; do
        install --no-deps "$package" || echo "going on without $package, whose tests are skipped"
    done
    echo "$wanted" >"$venv/made"
}

wheel()
{
    $MAKE --no-print-directory wheel BUILD="$BUILD" PYTHON="$venv/bin/python" PIP_FLAGS=--no-build-isolation
}

# pytest's summary in the words of tests/lib.sh; what it says of failures is kept. A process per core.
run_pytest()
{
    "$venv/bin/python" -c 'import xdist' 2>/dev/null && set -- -n "$(nproc)" --dist worksteal "$@"
    "$venv/bin/python" -m pytest -q -rpfEs -o cache_dir="$BUILD/pytest" --color=no "$@" 2>&1 |
        sed -e 's/^PASSED /ok /' -e 's/^FAILED /FAIL /' -e 's/^ERROR /FAIL /' -e 's/^SKIPPED /skipped /'
}

run()
{
    check "python: the wheel is built, without a warning" wheel
    APL_WHEEL=$(cd "$BUILD/dist" && ls "$PWD"/*.whl) || exit 1
    export APL_WHEEL
    check "python: it can be installed" install --force-reinstall --no-deps "$APL_WHEEL"
    if [ "$kind" = frameworks ]; then
        # shellcheck disable=SC2046
        APL_CLEAN_COPY=1 run_pytest python/tests/test_wheel.py python/tests/test_docs.py \
            $(ls python/tests/test_jax*.py python/tests/test_tf*.py 2>/dev/null)
    elif [ "$kind" = ecosystem ]; then
        # shellcheck disable=SC2046
        run_pytest python/tests/test_docs.py python/tests/test_migrate.py $(ls python/tests/test_torch_ecosystem_*.py)
    else
        run_pytest python/tests --ignore-glob='python/tests/test_torch_ecosystem_*' --deselect python/tests/test_wheel.py::test_clean_copy_can_be_installed
    fi
}

case ${1-} in
prepare) prepare ;;
run) run ;;
*) cannot "usage: tests/python.sh prepare|run python|frameworks|ecosystem" ;;
esac
